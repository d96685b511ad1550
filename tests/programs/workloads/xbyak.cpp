/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two engines in one process, each with ids from 1: functions that xbyak generates repeatedly
 * at the same addresses under new names, and kernels of oneDNN. Both make about equal numbers
 * of methods, so that equal ids are live at the same time.
 *
 *   xbyak SECONDS
 *
 * Prints for each function of xbyak, before its first run: the time (CLOCK_MONOTONIC, ns), the
 * address range and the name.
 */
#define XBYAK_USE_VTUNE
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <xbyak/xbyak.h>
#include <xbyak/xbyak_util.h>

#include "onednn_primitives.h"

using namespace dnnl;

static const int count = 400;  /* functions at a time */
static const int rounds = 100; /* runs of each */
static const size_t function_bytes = 256;

static unsigned long long now_ns()
{
	timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* Functions that count down their argument, in one buffer that is rewritten. */
class Counters : Xbyak::CodeGenerator
{
      public:
	Counters() : CodeGenerator(count * function_bytes)
	{
		profiler.init(Xbyak::util::Profiler::VTune);
	}

	void write(int generation)
	{
		reset();
		for (int i = 0; i < count; i++) {
			size_t start = getSize();
			char name[64];

			/*
			 * At other offsets than before, so that a new function overlaps
			 * two old ones.
			 */
			nop((generation + i) % 3 * 16 + 1, false);
			align(16, false);
			Xbyak::Label again;
			L(again);
			sub(rdi, 1);
			jnz(again);
			ret();
			snprintf(name, sizeof(name), "xbyak_%d_%d", generation, i);
			functions[i] = getCode() + start;
			profiler.set(name, functions[i], getSize() - start);
			printf("%llu %p %p %s\n", now_ns(), functions[i], getCurr(), name);
		}
		fflush(stdout);
	}

	void run(int number)
	{
		reinterpret_cast<void (*)(unsigned long)>(
			reinterpret_cast<uintptr_t>(functions[number % count]))(3000000);
	}

      private:
	Xbyak::util::Profiler profiler;
	const uint8_t *functions[count];
};

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 3; /* also CPU seconds */
	auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
	engine eng(engine::kind::cpu, 0);
	stream s(eng);
	Counters counters;

	set_primitive_cache_capacity(0);
	for (int i = 0; std::chrono::steady_clock::now() < end ||
			(double)std::clock() / CLOCKS_PER_SEC < seconds;
	     i++) {
		int size = 64 + i % 4 * 16;

		if (i % rounds == 0)
			counters.write(i / rounds);
		counters.run(i * 7);
		multiply(eng, s, size, size, size, 100);
		activate(eng, s, size, size, 400);
	}
	return 0;
}
