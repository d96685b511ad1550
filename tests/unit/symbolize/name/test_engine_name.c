/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <stdlib.h>

#include "symbolize/name/engine_name.h"
#include "tests/unit/cases.h"

/* numba's tags are a version and a hash of the compilation. */
#define TAGS  "B2v1B38c8tJTIeFIjxB2IKSgI4CrvQClQZ6FczSBAA_3dE"
#define ARRAY "5ArrayIdLi1E1C7mutable7alignedE"

static const struct {
	const char *name, *meant; /* NULL: shown unchanged */
} names[] = {
	{"_ZN8__main__3hot" TAGS ARRAY, "__main__::hot(Array<double, 1, C>)"},
	{"_ZN8__main__3hotE" ARRAY, "__main__::hot(Array<double, 1, C>)"},
	{"cfunc._ZN8__main__3hot" TAGS "dd", "cfunc.__main__::hot(double, double)"},
	{"__ufunc__._ZN8__main__3addB2v3" TAGS "xx",
	 "__ufunc__.__main__::add(long long, long long)"},
	{"__gufunc__._ZN8__main__3add" TAGS ARRAY, "__gufunc__.__main__::add(Array<double, 1, C>)"},
	{".kernel.12___gufunc__._ZN8__main__3addE" ARRAY,
	 ".kernel.12___gufunc__.__main__::add(Array<double, 1, C>)"},
	{"_ZN8__main__5outer12_3clocals_3e5inner" TAGS "x",
	 "__main__::outer::<locals>::inner(long long)"},
	{"_ZN8__main__5outer12_3clocals_3e12_3clambda_3e" TAGS "x",
	 "__main__::outer::<locals>::<lambda>(long long)"},
	{"_ZN8__main__7conv_2d" TAGS "5ArrayIfLi2E1A8readonly7alignedE",
	 "__main__::conv_2d(Array<float, 2, A, readonly>)"},
	{"_ZN8__main__3oddE5ArrayIfLi2E1A7mutable10nonalignedE",
	 "__main__::odd(Array<float, 2, A, mutable, nonaligned>)"},
	{"_ZN13_3cdynamic_3e4ctor" TAGS, "<dynamic>::ctor"},
	{"_ZN8__main__2dd" TAGS "42DictType_5bint64_2cint64_5d_3civ_3dNone_3e5TupleIxdE",
	 "__main__::dd(DictType[int64,int64]<iv=None>, Tuple<long long, double>)"},
	{"_ZN5numba4impl" TAGS "xN38BoundFunction_28_28_3cclass_20_27numba5types53"
	 "Integer_27_3e_2c_20_27__hash___27_29_20for_20int64_29E",
	 "numba::impl(long long, BoundFunction((<class 'numba::types::"
	 "Integer'>, '__hash__') for int64))"},
	{"_ZN8__main__13conv_2d_28_2d" TAGS "x", "__main__::conv_2d_28_2d(long long)"},
	{"_ZN8__main__8_3e_2d_3" TAGS "x", "__main__::_3e_2d_3(long long)"},
	/* Names of other engines and compilers. */
	{"_Z3addii", "add(int, int)"},
	{"_ZN3foo3barB5cxx11Ev", "foo::bar[abi:cxx11]()"},
	{"hot", NULL},
	{"cfunc._Z", NULL},
	{"cfunc.hot", NULL},
	{"._Z", NULL},
	{"", NULL},
};

CASE(test_names)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *name = engine_name(names[i].name);

		if (!names[i].meant) {
			assert_null(name);
			continue;
		}
		assert_non_null(name);
		assert_string_equal(name, names[i].meant);
		free(name);
	}
}
