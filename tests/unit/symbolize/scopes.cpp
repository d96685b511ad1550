/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions that no linker knows by name, in all the places where they can stand:
 * for test_debug_names.c, which looks at them. Never run.
 */

#define ALWAYS inline __attribute__((always_inline))

volatile int sink;

static ALWAYS void in_no_scope()
{
	sink = sink * 3;
}

namespace
{
ALWAYS void in_nameless()
{
	sink = sink * 5;
}

struct plain {
	int value;

	ALWAYS plain() : value(sink * 7)
	{
	}

	struct inner {
		ALWAYS void in_inner()
		{
			sink = sink * 11;
		}
	};
};
} // namespace

namespace outer
{
namespace
{
template <class T> struct box {
	T value;

	ALWAYS void in_template()
	{
		sink = value * 13;
	}
};
} // namespace

namespace nested
{
ALWAYS static void in_nested()
{
	sink = sink * 17;
}

__attribute__((noinline)) void lambdas(int x)
{
	auto once = [x](int y) __attribute__((always_inline))
	{
		sink = x * y * 19;
	};

	struct local {
		static ALWAYS void in_local()
		{
			sink = sink * 23;
		}
	};

	once(sink);
	local::in_local();
}
} // namespace nested
} // namespace outer

int main()
{
	in_no_scope();
	in_nameless();
	sink = plain().value;
	plain::inner().in_inner();
	outer::box<int>{sink}.in_template();
	outer::nested::in_nested();
	outer::nested::lambdas(sink);
	return 0;
}
