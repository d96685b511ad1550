/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps oneDNN's JIT busy: threads that create and run primitives of changing shapes. With its
 * primitive cache off, kernels are generated all the time, many at the same few addresses, and
 * never reported as unloaded.
 *
 *   onednn SECONDS [THREADS [PRIMITIVES IN THE CACHE]]
 */
#include <chrono>
#include <ctime>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unordered_map>
#include <vector>

#include "onednn_primitives.h"

using namespace dnnl;

/* The end of the run: by time, and by the CPU time of the process. */
struct end {
	std::chrono::steady_clock::time_point time;
	double cpu_seconds;

	bool has_come() const
	{
		return std::chrono::steady_clock::now() >= time &&
		       (double)std::clock() / CLOCKS_PER_SEC >= cpu_seconds;
	}
};

static void work(int number, struct end end)
{
	engine eng(engine::kind::cpu, 0);
	stream s(eng);

	for (int i = number; !end.has_come(); i++) {
		multiply(eng, s, 32 + i % 5 * 16, 64 + i % 3 * 16, 96 + i % 7 * 8, 200);
		activate(eng, s, 32 + i % 5 * 16, 64 + i % 3 * 16, 200);
	}
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 3;
	int count = argc > 2 ? atoi(argv[2]) : 2;
	struct end end = {std::chrono::steady_clock::now() +
				  std::chrono::duration_cast<std::chrono::steady_clock::duration>(
					  std::chrono::duration<double>(seconds)),
			  seconds};
	std::vector<std::thread> threads;

	set_primitive_cache_capacity(argc > 3 ? atoi(argv[3]) : 0);
	for (int i = 0; i < count; i++)
		threads.emplace_back(work, i, end);
	for (auto &thread : threads)
		thread.join();
	puts("done");
	return 0;
}
