<?php
// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// deep.php DEPTH COUNT: as deep.py.

function leaf($count)
{
    $total = 0;
    for ($i = 0; $i < $count * 1000; $i++) {
        $total += $i % 7 * $i;
        $total &= 0xffffff;
    }
    return $total;
}

function down($depth, $count)
{
    return $depth <= 1 ? leaf($count) : down($depth - 1, $count);
}

down((int)$argv[1], (int)$argv[2]);
