<?php
// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Does nothing but switch to a fiber and back.
//
// usage: php php_switch.php SECONDS

function switch__fiber(): void
{
    while (true) {
        Fiber::suspend();
    }
}

function resume__main(float $seconds): void
{
    $fiber = new Fiber('switch__fiber');
    $fiber->start();
    $end = microtime(true) + $seconds;
    do {
        for ($i = 0; $i < 1000; $i++) {
            $fiber->resume();
        }
    } while (microtime(true) < $end);
}

resume__main((float) $argv[1]);
