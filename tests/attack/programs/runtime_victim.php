<?php
// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// As victim.c, in PHP: spends 10, 20, 33 and 37 percent of its time in four functions, until it is
// ended. Each has a caller of its own.

function victim_tenth(int $turns): int
{
    $chain = $turns;
    for ($i = 0; $i < $turns; $i++) {
        $chain = $chain * 5 % 1003;
    }
    return $chain;
}

function victim_fifth(int $turns): int
{
    $chain = $turns;
    for ($i = 0; $i < $turns; $i++) {
        $chain = $chain * 5 % 1003;
    }
    return $chain;
}

function victim_third(int $turns): int
{
    $chain = $turns;
    for ($i = 0; $i < $turns; $i++) {
        $chain = $chain * 5 % 1003;
    }
    return $chain;
}

function victim_rest(int $turns): int
{
    $chain = $turns;
    for ($i = 0; $i < $turns; $i++) {
        $chain = $chain * 5 % 1003;
    }
    return $chain;
}

function calls_victim_tenth(int $turns): int
{
    return victim_tenth($turns * 10);
}

function calls_victim_fifth(int $turns): int
{
    return victim_fifth($turns * 20);
}

function calls_victim_third(int $turns): int
{
    return victim_third($turns * 33);
}

function calls_victim_rest(int $turns): int
{
    return victim_rest($turns * 37);
}

function main(): void
{
    $state = 1;
    while (true) {
        $state = $state * 1103515245 + 12345 & 0x7fffffff;
        $turns = 100 + ($state >> 16) % 200;
        calls_victim_tenth($turns);
        calls_victim_fifth($turns);
        calls_victim_third($turns);
        calls_victim_rest($turns);
    }
}

main();
