<?php
// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A real PHP that overwrites its own structures by FFI: frames, functions, strings, instructions. It
// is honest about half of the time, so that a recorder accepts it, again and again.
//
// usage: php hostile_php.php KIND...     the functions attack_KIND in turns; it runs until it is ended

const PAGE = 4096;
const PIECE = 0.03; // seconds of one lie, and of the truth between two

// Offsets: of a frame, of a function, and of the newest frame.
const OPLINE = 0, FUNC = 24, THIS = 32, PREVIOUS = 48;
const NAME = 8, SCOPE = 16;
const NEWEST = PHP_VERSION_ID < 80500 ? 488 : 512;
const LAYOUTS = [ // last, opcodes, filename, line_start; the number of closures
    704 => [60, 64, 136, 144, 0], 800 => [68, 72, 144, 152, 0], 801 => [68, 72, 144, 152, 172],
    802 => [80, 88, 152, 160, 180], 803 => [76, 80, 144, 152, 172], 804 => [96, 104, 168, 176, 188],
    805 => [96, 104, 168, 176, 188],
];
[$last, $opcodes, $filename, $line, $closures] = LAYOUTS[PHP_MAJOR_VERSION * 100 + PHP_MINOR_VERSION];
define('LAST', $last);
define('OPCODES', $opcodes);
define('FILENAME', $filename);
define('LINE', $line);
define('CLOSURES', $closures);

$ffi = FFI::cdef('extern char executor_globals[1024];
    uintptr_t mmap(void *address, size_t bytes, int protection, int flags, int fd, long offset);
    int mprotect(void *address, size_t bytes, int protection);
    int madvise(void *address, size_t bytes, int advice);
    long syscall(long number, ...);
    int ioctl(int fd, unsigned long request, void *argument);');
$number = $ffi->new('uintptr_t', false);
[$words, $halves] = [$ffi->cast('int64_t *', $number), $ffi->cast('uint32_t *', $number)]; // at $number
$newest = FFI::cast('uint64_t *', FFI::addr($ffi->executor_globals[NEWEST]));

function peek(int $address): int
{
    global $number, $words;
    $number->cdata = $address;
    return $words[0];
}

function poke(int $address, int $value): void
{
    global $number, $words;
    $number->cdata = $address;
    $words[0] = $value;
}

function poke_half(int $address, int $value): void
{
    global $number, $halves;
    $number->cdata = $address;
    $halves[0] = $value;
}

// Returns a pointer that is never freed.
function pointer(string $type, int $address): FFI\CData
{
    global $ffi;
    $number = $ffi->new('uintptr_t', false);
    $number->cdata = $address;
    return $ffi->cast($type, $number);
}

// Returns the address of the caller's frame.
function frame(): int
{
    global $newest;
    $own = $newest[0];
    return peek($own + PREVIOUS);
}

function map_pages(int $pages): int
{
    global $ffi;
    return $ffi->mmap(null, $pages * PAGE, 3, 0x22, -1, 0);
}

function spin(float $seconds): int
{
    $end = hrtime(true) + $seconds * 1e9;
    $total = 0;
    while (hrtime(true) < $end) {
        for ($i = 0; $i < 200; $i++) {
            $total += $i * $i % 7;
        }
    }
    return $total;
}

// Spins while the words at the addresses have these values. Restores them.
function lie(array $addresses, array $values): void
{
    $before = array_map('peek', $addresses);
    foreach ($addresses as $i => $address) {
        poke($address, $values[$i]);
    }
    spin(PIECE);
    foreach ($addresses as $i => $address) {
        poke($address, $before[$i]);
    }
}

// The frames of this function and of its callers may be changed. $make returns what is.
function holder(callable $make, int $value): void
{
    $own = frame();
    lie(...$make($own, peek($own + PREVIOUS), $value));
}

function anywhere(): array
{
    static $values;
    if (!$values) {
        $garbage = map_pages(16);
        FFI::memcpy(pointer('char *', $garbage), random_bytes(16 * PAGE), 16 * PAGE);
        $values = [1, 8, 0x1000, 0x7fffdeadb000, (1 << 47) - 8, 1 << 47, PHP_INT_MIN, -0x77f000000000,
                   -10485760, -8, -1, $garbage, $garbage + 3, $garbage + 16 * PAGE - 8];
    }
    return $values;
}

// Lists with loops, frames in the middle of frames, functions and instructions anywhere.
function attack_frames(): Generator
{
    $loops = [fn($own, $caller) => [[$own + PREVIOUS], [$own]],
              fn($own, $caller) => [[$caller + PREVIOUS], [$own]],
              fn($own, $caller) => [[$own + PREVIOUS], [$own + 8]],
              fn($own, $caller) => [[$own + PREVIOUS], [$own - 24]]];
    $pointers = [fn($own, $caller, $value) => [[$own + PREVIOUS], [$value]],
                 fn($own, $caller, $value) => [[$caller + FUNC], [$value]],
                 fn($own, $caller, $value) => [[$caller + OPLINE], [$value]],
                 fn($own, $caller, $value) => [[$caller + FUNC, $caller + THIS], [0, $value]]];
    while (true) {
        foreach ($loops as $make) {
            holder($make, 0);
            yield;
        }
        foreach ($pointers as $make) {
            foreach (anywhere() as $value) {
                holder($make, $value);
                yield;
            }
        }
    }
}

// A thousand frames, of functions that are new in each sample.
function attack_chain(): Generator
{
    $count = 1000;
    $frames = map_pages(intdiv($count * 80, PAGE) + 1);
    $functions = map_pages(intdiv($count * 256, PAGE) + 1);
    for ($i = 0; $i < $count; $i++) {
        poke($frames + $i * 80 + PREVIOUS, $frames + ($i + 1) % $count * 80);
        poke($frames + $i * 80 + FUNC, $functions + $i * 256);
    }
    $all = pointer('char *', $functions);
    while (true) {
        churn($frames, $all, $count * 256);
        yield;
    }
}

function churn(int $frames, FFI\CData $functions, int $bytes): void
{
    $own = frame();
    $before = peek($own + PREVIOUS);
    poke($own + PREVIOUS, $frames);
    for ($i = 0; $i < 100; $i++) {
        FFI::memcpy($functions, random_bytes($bytes), $bytes);
        spin(0.001);
    }
    poke($own + PREVIOUS, $before);
}

// Returns the address of what looks like a string.
function string_at(int $length, string $characters, int $hash = 7): int
{
    $at = map_pages(1);
    poke($at, 1 << 30);
    poke($at + 8, $hash);
    poke($at + 16, $length);
    FFI::memcpy(pointer('char *', $at + 24), $characters, min(strlen($characters), PAGE - 24));
    return $at;
}

function lie_about(int $offset, int $value): void
{
    $own = frame();
    $function = peek($own + FUNC);
    $caller = peek(peek($own + PREVIOUS) + FUNC);
    lie([$function + $offset, $caller + $offset], [$value, $value]);
}

// Names, classes and files that lie about their lengths, and are anywhere.
function attack_names(): Generator
{
    $texts = anywhere();
    foreach ([1 << 30, (1 << 30) - 1, PHP_INT_MAX, -1, 0, 5, 3000] as $length) {
        foreach ([str_repeat('attacker', 400), "attacker;frame\nframe 7\x1b[2J\xff\xfe\0end", "\xf0\x9f"] as $text) {
            $texts[] = string_at($length, $text);
        }
    }
    $class = map_pages(1);
    while (true) {
        foreach ($texts as $text) {
            poke($class + 8, $text);
            foreach ([[NAME, $text], [FILENAME, $text], [SCOPE, $text], [SCOPE, $class]] as [$offset, $value]) {
                lie_about($offset, $value);
                yield;
            }
        }
    }
}

// Instructions and closures that are anywhere, and numbers of them that are huge.
function attack_code(): Generator
{
    $array = map_pages(1);
    while (true) {
        foreach (anywhere() as $value) {
            lie_about(OPCODES, $value & ~7);
            lie_about(LAST & ~7, -1);
            if (CLOSURES) { // the pointer is behind another one
                for ($i = 0; $i < 64; $i++) {
                    poke($array + 8 * $i, $i % 2 ? $value : peek(frame() + FUNC));
                }
                poke($array + 8, peek(peek(frame() + PREVIOUS) + FUNC));
                lie_about_closures($array);
                lie_about_closures($value);
            }
            yield;
        }
    }
}

function lie_about_closures(int $array): void
{
    $function = peek(frame() + FUNC);
    $count = peek($function + CLOSURES) >> 32 & 0xffffffff;
    $own = pointer('uint32_t *', $function + CLOSURES);
    $before = [$own[0], peek($function + CLOSURES + 12)];
    $own[0] = 0xffffffff;
    poke($function + CLOSURES + 12, $array);
    spin(PIECE);
    $own[0] = $before[0];
    poke($function + CLOSURES + 12, $before[1]);
}

// Functions that change while they are read.
function attack_rewrite(): Generator
{
    $name = string_at(100, str_repeat('attacker', 20));
    $function = peek(frame() + FUNC);
    $before = [peek($function + NAME), pointer('uint32_t *', $function + LINE)[0]];
    while (true) {
        for ($i = 0; $i < 3000; $i++) {
            poke($function + NAME, $i & 1 ? $name : $before[0]);
            poke_half($function + LINE, $i);
            poke($name + 8, $i);
        }
        poke($function + NAME, $before[0]);
        poke_half($function + LINE, $before[1]);
        yield;
    }
}

// Thousands of new functions each second, each with a long name.
function attack_many(): Generator
{
    for ($number = 0;; $number++) {
        $source = '';
        for ($i = 0; $i < 50; $i++) {
            $name = str_pad("attacker_{$number}_{$i}_", 900, 'x');
            $callee = str_pad("attacker_{$number}_" . ($i + 1) . '_', 900, 'x');
            $call = $i < 49 ? "$callee();" : '';
            $source .= "function $name() { for (\$i = 0; \$i < 99; \$i++) {} $call }";
        }
        eval($source);
        $first = str_pad("attacker_{$number}_0_", 900, 'x');
        for ($i = 0; $i < 20; $i++) {
            $first();
        }
        if ($number % 20 == 19) {
            yield;
        }
    }
}

// Names, files, instructions, frames and functions in memory that does not answer.
function attack_stuck(): Generator
{
    global $ffi;
    $pages = map_pages(64);
    $fd = $ffi->syscall(323, 02000000);
    if ($fd < 0) {
        exit(1);
    }
    $api = FFI::new('uint64_t[3]');
    $api[0] = 0xaa;
    $range = FFI::new('uint64_t[4]');
    [$range[0], $range[1], $range[2]] = [$pages, 64 * PAGE, 1];
    $ffi->ioctl($fd, 0xc018aa3f, FFI::addr($api));
    $ffi->ioctl($fd, 0xc020aa00, FFI::addr($range));
    for ($number = 0;; $number++) {
        $at = $pages + $number % 60 * PAGE + 8;
        foreach ([NAME, FILENAME, SCOPE, OPCODES] as $offset) {
            lie_about($offset, $at);
        }
        holder(fn($own, $caller, $value) => [[$own + PREVIOUS], [$value]], $at);
        holder(fn($own, $caller, $value) => [[$caller + FUNC], [$value]], $at);
        yield;
    }
}

// Strings in pages that come and go.
function attack_pages(): Generator
{
    global $ffi;
    $name = string_at(20, 'attacker_in_a_page__');
    $page = pointer('char *', $name);
    $function = peek(frame() + FUNC);
    $before = peek($function + NAME);
    while (true) {
        poke($function + NAME, $name);
        for ($i = 0; $i < 500; $i++) {
            $ffi->mprotect($page, PAGE, 0);
            $ffi->mprotect($page, PAGE, 3);
        }
        $ffi->madvise($page, PAGE, 4);
        spin(0.002);
        poke($function + NAME, $before);
        yield;
    }
}

echo "\n";
spin(0.2);
$attacks = array_map(fn($kind) => ("attack_$kind")(), array_slice($argv, 1));
while (true) {
    foreach ($attacks as $attack) {
        $attack->next();
        spin(PIECE);
    }
}
