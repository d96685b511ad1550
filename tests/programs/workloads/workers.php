<?php
// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// workers.php SECONDS WORKERS: server workers that share one JIT buffer. Each lives for about a
// second of work and is replaced by a new one. Each compiles code of its own, named for its pid.

$end = microtime(true) + (float)$argv[1];
$alive = 0;

function work(float $until): int
{
    $name = 'task_' . getmypid();
    eval("function $name(int \$n): int { \$s = 0;" .
         " for (\$i = 0; \$i < \$n; \$i++) { \$s = (\$s * 31 + \$i) % 1000003; } return \$s; }");
    $sum = 0;
    do {
        $sum += $name(100000);
    } while (microtime(true) < $until);
    return $sum;
}

do {
    while ($alive < (int)$argv[2]) {
        if (pcntl_fork() === 0) {
            work(microtime(true) + 1.0);
            exit(0);
        }
        $alive++;
    }
    pcntl_wait($status);
    $alive--;
} while (microtime(true) < $end);
while ($alive-- > 0) {
    pcntl_wait($status);
}
