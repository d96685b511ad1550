<?php
// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Calls whose callers are known: NAME__CALLER is called by CALLER, or by itself, only. So a stack in
// which another function of this file calls it is impossible.
//
// usage: php php_frames.php SECONDS     of CPU time; by a web server, ?seconds=0.05

function spin__plain(int $count): int
{
    $total = 0;
    for ($i = 0; $i < $count; $i++) {
        $total += $i * $i % 7;
    }
    return $total;
}

function plain__main(): int
{
    return spin__plain(2000);
}

function compare__sort(int $a, int $b): int
{
    $total = $a - $b;
    for ($i = 0; $i < 5; $i++) {
        $total += $i & 1;
    }
    return $total <=> 2;
}

function sort__main(): array
{
    $items = range(100, 1);
    usort($items, 'compare__sort');
    return $items;
}

class Shop
{
    private array $items = [];

    public function __construct()
    {
        $this->items = range(1, 50);
    }

    public function price__total(int $item): int
    {
        $amount = $item;
        for ($i = 0; $i < 30; $i++) {
            $amount = $amount * 3 % 101 + $i;
        }
        return $amount;
    }

    public function total__main(): int
    {
        $total = 0;
        foreach ($this->items as $item) {
            $total += $this->price__total($item);
        }
        return $total;
    }

    public static function square__map(int $value): int
    {
        $total = $value;
        for ($i = 0; $i < 30; $i++) {
            $total = $total * $value % 97;
        }
        return $total;
    }

    private function first_class__convert(int $value): int
    {
        $total = $value;
        for ($i = 0; $i < 30; $i++) {
            $total = $total * $value % 89;
        }
        return $total;
    }

    public function convert__main(): array
    {
        return array_map($this->first_class__convert(...), $this->items);
    }

    public function map__main(): array
    {
        return array_map([self::class, 'square__map'], $this->items);
    }
}

function deep__recurse(int $n): int
{
    if ($n === 0) {
        $total = 0;
        for ($i = 0; $i < 500; $i++) {
            $total += $i & 3;
        }
        return $total;
    }
    return deep__recurse($n - 1);
}

function recurse__main(): int
{
    return deep__recurse(60);
}

function generate__consume(int $count): Generator
{
    for ($i = 0; $i < $count; $i++) {
        $value = $i;
        for ($j = 0; $j < 10; $j++) {
            $value = $value * 7 % 13;
        }
        yield $value;
    }
}

function consume__main(): int
{
    $total = 0;
    foreach (generate__consume(100) as $value) {
        $total += $value;
    }
    return $total;
}

function inner__outer(int $count): Generator
{
    $total = 0;
    for ($i = 0; $i < $count; $i++) {
        $total += $i % 3;
        if ($i % 100 === 0) {
            yield $total;
        }
    }
}

function outer__delegate(int $count): Generator
{
    yield from inner__outer($count);
}

function delegate__main(): int
{
    $total = 0;
    foreach (outer__delegate(1000) as $value) {
        $total += $value;
    }
    return $total;
}

function replace__substitute(array $match): string
{
    $total = 0;
    for ($i = 0; $i < 200; $i++) {
        $total += $i;
    }
    return (string) ($total % 10);
}

function substitute__main(): string
{
    return preg_replace_callback('/a/', 'replace__substitute', 'banana');
}

function spin__fiber(int $count): int
{
    $total = 0;
    for ($i = 0; $i < $count; $i++) {
        $total += $i & 3;
    }
    return $total;
}

function fiber__resume(): void
{
    spin__fiber(600);
    Fiber::suspend();
    spin__fiber(600);
}

function resume__main(): void
{
    if (class_exists('Fiber', false)) {
        $fiber = new Fiber('fiber__resume');
        $fiber->start();
        $fiber->resume();
    }
}

// Each call makes a closure, and frees it. Closures of other code take its place then, so its name can
// be read during a part of the time only.
function mapped__main(): array
{
    return array_map(static fn (int $n): int => spin_mapped($n), array_fill(0, 50, 300));
}

function spin_mapped(int $count): int
{
    $total = 0;
    while ($count--) {
        $total ^= $count;
    }
    return $total;
}

// Functions of other code are freed before, and are where these are made now.
function made__main(int $n): int
{
    $m = $n % 4 + 2;
    return eval("\$leaf = function (int \$count) { \$total = 0;"
        . " for (\$i = 0; \$i < \$count; \$i++) { \$total += \$i % $m; } return \$total; };"
        . " return \$leaf(300);");
}

function main(float $seconds): void
{
    $shop = new Shop();
    $n = 0;
    $begin = getrusage();
    do {
        plain__main();
        sort__main();
        $shop->total__main();
        $shop->map__main();
        $shop->convert__main();
        recurse__main();
        consume__main();
        delegate__main();
        substitute__main();
        resume__main();
        mapped__main();
        for ($i = 0; $i < 4; $i++) {
            made__main(++$n);
        }
        $now = getrusage();
        $spent = ($now['ru_utime.tv_sec'] - $begin['ru_utime.tv_sec'])
            + ($now['ru_utime.tv_usec'] - $begin['ru_utime.tv_usec']) / 1e6;
    } while ($spent < $seconds);
}

main((float) ($argv[1] ?? $_GET['seconds'] ?? 0.05));
echo "done\n";
