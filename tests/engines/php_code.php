<?php
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * php_code.php ROUNDS FILE: functions, a method and arrays; the memory of the JIT code is written
 * to FILE. Prints the CPU time of the rounds in seconds.
 */
function fib($n)
{
	return $n < 2 ? $n : fib($n - 1) + fib($n - 2);
}

class Sum
{
	public $factor = 3;

	function step($n)
	{
		for ($sum = 0, $i = 0; $i < $n; $i++)
			$sum = ($sum + $i * $this->factor) % 1000003;
		return $sum;
	}
}

function words($n)
{
	for ($counts = [], $i = 0; $i < $n; $i++) {
		$word = "word" . $i % 97;
		$counts[$word] = ($counts[$word] ?? 0) + strlen($word);
	}
	return count($counts);
}

function cpu_seconds()
{
	$usage = getrusage();
	return $usage["ru_utime.tv_sec"] + $usage["ru_utime.tv_usec"] / 1e6;
}

$sum = new Sum;
$begin = cpu_seconds();
for ($round = 0; $round < $argv[1]; $round++)
	fib(20) + $sum->step(20000) + words(5000);
echo cpu_seconds() - $begin, "\n";

$memory = fopen("/proc/self/mem", "rb");
$out = fopen($argv[2], "wb");
foreach (file("/proc/self/maps") as $line) {
	if (!preg_match("~^(\w+)-(\w+) r.x[sp] .*/dev/zero~", $line, $range))
		continue;
	fseek($memory, hexdec($range[1]));
	fwrite($out, stream_get_contents($memory, hexdec($range[2]) - hexdec($range[1])));
}
