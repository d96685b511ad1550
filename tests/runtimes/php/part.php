<?php
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
namespace App\Model;

function helper(array $items, callable $f)
{
    return array_map(
        $f,
        $items);
}
$fromInclude = static fn($x) => \Shop::leaf($x);
