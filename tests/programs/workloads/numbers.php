<?php
// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Keeps PHP's JIT busy for as many seconds as are asked for, and until it has taken as much CPU
// time: small loops, calls, arrays and floats, so that many traces are compiled and all kinds of
// code run.

function mandelbrot(int $size): int
{
    $inside = 0;
    for ($y = 0; $y < $size; $y++) {
        for ($x = 0; $x < $size; $x++) {
            $cr = 2.0 * $x / $size - 1.5;
            $ci = 2.0 * $y / $size - 1.0;
            $zr = $zi = 0.0;
            for ($i = 0; $i < 60; $i++) {
                $t = $zr * $zr - $zi * $zi + $cr;
                $zi = 2.0 * $zr * $zi + $ci;
                $zr = $t;
                if ($zr * $zr + $zi * $zi > 4.0) {
                    continue 2;
                }
            }
            $inside++;
        }
    }
    return $inside;
}

function sieve(int $limit): int
{
    $composite = array_fill(0, $limit + 1, false);
    $count = 0;
    for ($i = 2; $i <= $limit; $i++) {
        if ($composite[$i]) {
            continue;
        }
        $count++;
        for ($j = $i * $i; $j <= $limit; $j += $i) {
            $composite[$j] = true;
        }
    }
    return $count;
}

function fibonacci(int $n): int
{
    return $n < 2 ? $n : fibonacci($n - 1) + fibonacci($n - 2);
}

function words(int $count): int
{
    $seen = [];
    for ($i = 0; $i < $count; $i++) {
        $word = 'w' . (($i * 2654435761) % 997);
        $seen[$word] = ($seen[$word] ?? 0) + 1;
    }
    return count($seen);
}

function cpu_seconds(): float
{
    $usage = getrusage();
    return $usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec'] +
        ($usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec']) / 1e6;
}

// numbers.php SECONDS [ROUNDS]: with ROUNDS, a fixed amount of work, however long it takes.
$seconds = (float)($argv[1] ?? 3);
$end = microtime(true) + $seconds;
$rounds = (int)($argv[2] ?? 0);
$sum = $round = 0;
do {
    $sum += mandelbrot(120) + sieve(30000) + fibonacci(20) + words(5000);
    $round++;
} while ($rounds ? $round < $rounds : microtime(true) < $end || cpu_seconds() < $seconds);
echo $sum, "\n";
