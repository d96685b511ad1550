<?php
// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A page that is work, for PHP's own server: says which process made it.
function collatz(int $n): int
{
    for ($steps = 0; $n != 1; $steps++) {
        $n = $n & 1 ? 3 * $n + 1 : $n >> 1;
    }
    return $steps;
}

function mix(int $value): int
{
    for ($i = 0; $i < 3000; $i++) {
        $value = ($value * 1103515245 + 12345) & 0x7fffffff;
    }
    return $value;
}

$sum = 0;
for ($i = 1; $i < 2000; $i++) {
    $sum += collatz($i) + mix($i) % 7;
}
echo getmypid(), " ", $sum, "\n";
