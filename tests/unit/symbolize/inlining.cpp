/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Much that is inlined into little, for test_inlining.c: looked at, never run. All
 * of it is in this file and has a linkage name, since addr2line guesses elsewhere.
 */

#define ALWAYS inline __attribute__((always_inline))

namespace made
{
template <int depth> struct tower {
	static ALWAYS int climb(int x)
	{
		if (x & 1 << depth)
			return tower<depth - 1>::climb(x * depth) + 1;
		return tower<depth - 1>::climb(x - depth) ^ depth;
	}
};

template <> struct tower<0> {
	static ALWAYS int climb(int x)
	{
		return x % 7;
	}
};

/* Far deeper than a location has frames. */
template <int depth> ALWAYS int well(volatile int *x)
{
	return *x + well<depth - 1>(x + 1);
}

template <> ALWAYS int well<0>(volatile int *x)
{
	return *x;
}

template <class T> ALWAYS void swap(T &a, T &b)
{
	T kept = a;

	a = b;
	b = kept;
}

template <class T, class Less> ALWAYS void sort(T *begin, T *end, Less less)
{
	for (T *i = begin; i < end; i++) {
		for (T *j = i; j > begin && less(j[0], j[-1]); j--)
			made::swap(j[0], j[-1]);
	}
}

template <class T> struct less {
	ALWAYS bool operator()(const T &a, const T &b) const
	{
		return a.key() < b.key();
	}
};

template <int n> class item
{
      public:
	ALWAYS explicit item(int x) : value(tower<4>::climb(x) * n)
	{
	}

	ALWAYS int key() const
	{
		return value % (n + 2) ? value : -value;
	}

      private:
	int value;
};

template <int n> __attribute__((noinline)) int sort_items(item<n> *items, int count)
{
	made::sort(items, items + count, less<item<n>>());
	return items[0].key();
}
} // namespace made

volatile int sink;

extern "C" __attribute__((noinline)) int climb_towers(int x)
{
	return made::tower<5>::climb(x) + made::tower<3>::climb(x / 2);
}

extern "C" __attribute__((noinline)) int fall_into_well(volatile int *x)
{
	return made::well<100>(x);
}

/* Its part for the unlikely lies elsewhere. */
extern "C" __attribute__((noinline)) int split(int x)
{
	if (__builtin_expect(x == 12345, 0)) {
		sink = climb_towers(x);
		sink = made::tower<4>::climb(sink);
		__builtin_abort();
	}
	return made::tower<2>::climb(x);
}

int main(int argc, char **argv)
{
	volatile int numbers[101] = {0};
	made::item<1> ones[] = {made::item<1>(argc), made::item<1>(argc + 1)};
	made::item<2> twos[] = {made::item<2>(argc), made::item<2>(argc + 2)};
	made::item<3> threes[] = {made::item<3>(argc), made::item<3>(argc + 3)};

	return made::sort_items(ones, 2) + made::sort_items(twos, 2) + made::sort_items(threes, 2) +
	       climb_towers(argc) + fall_into_well(numbers) + split(argc);
}
