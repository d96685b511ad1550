/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions of 275 KB, as large kernels of oneDNN are, each of which is generated, runs for a short
 * time, and is not used again. Then the program ends. rbp is an ordinary register in them.
 *
 *   large FUNCTIONS MILLISECONDS
 */
#define XBYAK_USE_VTUNE
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

#include <xbyak/xbyak.h>
#include <xbyak/xbyak_util.h>

static const size_t body_bytes = 275 << 10;

class Large : Xbyak::CodeGenerator
{
      public:
	explicit Large(int number) : CodeGenerator(body_bytes + 4096)
	{
		Xbyak::util::Profiler profiler;
		Xbyak::Label again;
		char name[32];

		push(rbx);
		push(rbp);
		push(r12);
		sub(rsp, 0x140);
		mov(rbp, 10);
		L(again);
		for (int i = 0; getSize() < body_bytes; i++) {
			vmovups(xmm0, ptr[rsp + i % 16 * 16]);
			vaddps(xmm1, xmm0, xmm1);
			add(rax, rbp);
		}
		sub(rbp, 1);
		jnz(again, T_NEAR);
		add(rsp, 0x140);
		pop(r12);
		pop(rbp);
		pop(rbx);
		ret();
		snprintf(name, sizeof(name), "large_%d", number);
		profiler.init(Xbyak::util::Profiler::VTune);
		profiler.set(name, getCode(), getSize());
	}

	void run()
	{
		reinterpret_cast<void (*)()>(reinterpret_cast<uintptr_t>(getCode()))();
	}
};

/* Calls a function for some CPU time. Not inlined: the caller in all its stacks. */
static void __attribute__((noinline)) repeat(Large &function, double seconds)
{
	clock_t end = clock() + static_cast<clock_t>(seconds * CLOCKS_PER_SEC);

	while (clock() < end)
		function.run();
}

int main(int, char **argv)
{
	std::vector<std::unique_ptr<Large>> functions;

	for (int i = 0; i < atoi(argv[1]); i++) {
		functions.emplace_back(new Large(i));
		repeat(*functions.back(), atof(argv[2]) / 1000);
	}
	return 0;
}
