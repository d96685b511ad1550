<?php
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * php frames.php FILE LOOPS [fiber]: calls itself in many ways, writes its own backtrace to FILE and
 * sleeps. A profiler must see the same frames. LOOPS calls warm up the JIT.
 */
function dump_trace(array $trace, string $file): void
{
    $out = '';
    foreach ($trace as $i => $f) {
        $name = (isset($f['class']) ? $f['class'] . '::' : '') . $f['function'];
        $out .= explode("\0", $name)[0] . ' ' . ($f['file'] ?? '-') . ':' . ($f['line'] ?? 0) . "\n";
    }
    file_put_contents($file, $out);
}

function stop_here(): void
{
    dump_trace(debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS), $GLOBALS['truth']); sleep(1000);
}

class Shop
{
    private $items = [3, 1, 2];
    public static function leaf(int $x): int
    {
        if ($x == 2) stop_here();
        return $x;
    }
    public function __get($name)
    {
        return (new class { function run($s) {
            return $s->sorted();
        }})->run($this);
    }
    public function sorted()
    {
        usort($this->items, function ($a, $b) {
            return $this->viaEval($a) <=> $b;
        });
        return $this->items;
    }
    public function viaEval($a)
    {
        return eval('

            return Shop::viaGenerator($a);');
    }
    public static function inner($a)
    {
        yield 1;
        yield preg_replace_callback('/2/', function ($m) use ($a) {
            $GLOBALS['stopInInclude'] = $m[0];
            return (string)(require __DIR__ . '/part2.php')($m[0]);
        }, '12');
    }
    public static function outer($a)
    {
        yield from self::inner($a);
    }
    public static function viaGenerator($a)
    {
        foreach (self::outer($a) as $v)
            $last = $v;
        return $last;
    }
    public function __call($name, $args)
    {
        return call_user_func_array([$this, 'recurse'], $args);
    }
    public function recurse(int $n)
    {
        return $n ? $this->recurse($n - 1) : $this->nothing;
    }
}

$truth = $argv[1];
require __DIR__ . '/part.php';
$shop = new Shop;
for ($i = 0; $i < (int)($argv[2] ?? 0); $i++)
    Shop::leaf(1);
if (PHP_VERSION_ID >= 80100 && ($argv[3] ?? '') == 'fiber') {
    $fiber = new Fiber(function () use ($shop) {
        $shop->magic(5);
    });
    $fiber->start();
} else
    $shop->magic(5);
