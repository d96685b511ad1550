<?php
// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Does nothing but switch to a fiber and back.
//
// usage: php php_switch.php SECONDS     of CPU time in user mode

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
    do {
        for ($i = 0; $i < 1000; $i++) {
            $fiber->resume();
        }
        $used = getrusage();
    } while ($used['ru_utime.tv_sec'] + $used['ru_utime.tv_usec'] / 1e6 < $seconds);
}

resume__main((float) $argv[1]);
