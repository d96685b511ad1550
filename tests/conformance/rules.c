/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/conformance/rules.h"

/* Macros for events; more members may follow the arguments. */
#define LOAD(id_, at_, size_, name_, ...)                                                          \
	{                                                                                          \
		.kind = 13, .id = id_, .at = at_, .size_bytes = size_, .name = name_,              \
		##__VA_ARGS__                                                                      \
	}
#define LOAD_V2(id_, at_, size_, name_, module_, ...)                                              \
	{                                                                                          \
		.kind = 21, .id = id_, .at = at_, .size_bytes = size_, .name = name_,              \
		.module = module_, ##__VA_ARGS__                                                   \
	}
#define LOAD_V3(id_, at_, size_, name_, module_, arch_)                                            \
	{                                                                                          \
		.kind = 22, .id = id_, .at = at_, .size_bytes = size_, .name = name_,              \
		.module = module_, .arch = arch_                                                   \
	}
#define INLINE(id_, parent_, at_, size_, name_, ...)                                               \
	{                                                                                          \
		.kind = 16, .id = id_, .parent = parent_, .at = at_, .size_bytes = size_,          \
		.name = name_, ##__VA_ARGS__                                                       \
	}
#define UPDATE(id_, at_, size_)                                                                    \
	{                                                                                          \
		.kind = 15, .id = id_, .at = at_, .size_bytes = size_                              \
	}
#define SEGMENT(type_, at_, size_)                                                                 \
	{                                                                                          \
		.kind = 17, .at = at_, .size_bytes = size_, .segment = type_                       \
	}
#define UNLOAD(id_, ...)                                                                           \
	{                                                                                          \
		.kind = 14, .id = id_, ##__VA_ARGS__                                               \
	}
#define OTHER(kind_)                                                                               \
	{                                                                                          \
		.kind = kind_                                                                      \
	}
#define LINES(count_, ...)                                                                         \
	.line_count = count_, .lines = (const struct jitbpf_jit_line[count_])                      \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define CODE 1
#define DATA 2

const struct rule rules[] = {
	/* --- overwriting, unloading ------------------------------------------------------ */
	{"a load ends all of what it overlaps, from then on",
	 {LOAD(1, 0x100, 0x100, "old"), LOAD(2, 0x180, 0x10, "new")},
	 {{1, 0x1ff, "old"},
	  {2, 0x100, NULL},
	  {2, 0x180, "new"},
	  {2, 0x190, NULL},
	  {1, 0x180, "old"}}},
	{"ranges that touch do not overlap",
	 {LOAD(1, 0x100, 0x10, "a"), LOAD(2, 0x110, 0x10, "b"), LOAD(3, 0xf0, 0x10, "c")},
	 {{3, 0x10f, "a"}, {3, 0x110, "b"}, {3, 0xff, "c"}, {3, 0x120, NULL}}},
	{"one id loaded again and again at one place: the last load counts",
	 {LOAD(1, 0x100, 0x10, "first"), LOAD(1, 0x100, 0x10, "second")},
	 {{1, 0x100, "first"}, {2, 0x100, "second"}}},
	{"what overlaps a region or an inlined method of it ends the whole tree",
	 {LOAD(1, 0x100, 0x100, "top"), INLINE(2, 1, 0x140, 0x20, "in"),
	  LOAD(3, 0x150, 0x4, "new")},
	 {{2, 0x140, "in < top"}, {3, 0x140, NULL}, {3, 0x100, NULL}, {3, 0x150, "new"}}},
	{"unload by id: all regions of the method",
	 {LOAD(1, 0x100, 0x10, "m"), LOAD(1, 0x200, 0x10, "m"), LOAD(2, 0x300, 0x10, "n"),
	  UNLOAD(1, .at = 0x300, .size_bytes = 0x10)},
	 {{3, 0x200, "m"}, {4, 0x100, NULL}, {4, 0x200, NULL}, {4, 0x300, "n"}}},
	{"unload without an id: what begins in its range",
	 {LOAD(1, 0x100, 0x20, "a"), LOAD(2, 0x120, 0x20, "b"), LOAD(3, 0x140, 0x20, "c"),
	  UNLOAD(0, .at = 0x110, .size_bytes = 0x20)},
	 {{3, 0x120, "b"}, {4, 0x100, "a"}, {4, 0x120, NULL}, {4, 0x140, "c"}}},
	{"a shutdown stops nothing",
	 {LOAD(1, 0x100, 0x10, "before"), OTHER(2), LOAD(2, 0x200, 0x10, "behind")},
	 {{3, 0x100, "before"}, {3, 0x200, "behind"}}},
	{"events that say nothing of code, and unknown ones, change nothing",
	 {LOAD(1, 0x100, 0x10, "m"), OTHER(19), OTHER(20), OTHER(99)},
	 {{4, 0x100, "m"}}},

	/* --- split functions, names, modules --------------------------------------------- */
	{"a method's name, class and module are those of its first report",
	 {LOAD_V2(1, 0x100, 0x10, "f", "one", .class_name = "C"),
	  LOAD_V2(1, 0x200, 0x10, "g", "two", .class_name = "D")},
	 {{2, 0x100, "C::f [one]"}, {2, 0x200, "C::f [one]"}}},
	{"source: none given keeps the first one's, another stays the region's own",
	 {LOAD(1, 0x100, 0x10, "f", .source = "a.c"), LOAD(1, 0x200, 0x10, "f"),
	  LOAD(1, 0x300, 0x10, "f", .source = "b.c"), LOAD(1, 0x400, 0x10, "f", .source = "")},
	 {{4, 0x100, "f@a.c"}, {4, 0x200, "f@a.c"}, {4, 0x300, "f@b.c"}, {4, 0x400, "f@a.c"}}},
	{"each region of a method has lines of its own",
	 {LOAD(1, 0x100, 0x10, "f", .source = "a.c", LINES(1, {0x10, 3})),
	  LOAD(1, 0x200, 0x10, "f", LINES(1, {0x10, 9})), LOAD(1, 0x300, 0x10, "f")},
	 {{3, 0x100, "f@a.c:3"}, {3, 0x200, "f@a.c:9"}, {3, 0x300, "f@a.c"}}},
	{"the first report's names outlive its region",
	 {LOAD(1, 0x100, 0x10, "f", .source = "a.c"), LOAD(1, 0x200, 0x10, "g"),
	  LOAD(2, 0x100, 0x10, "h"), LOAD(1, 0x300, 0x10, "i")},
	 {{4, 0x100, "h"}, {4, 0x200, "f@a.c"}, {4, 0x300, "f@a.c"}}},
	{"when the last region of a method has gone, its id is another's",
	 {LOAD_V2(1, 0x100, 0x10, "f", "one"), UNLOAD(1), LOAD_V2(1, 0x200, 0x10, "g", "two")},
	 {{1, 0x100, "f [one]"}, {3, 0x200, "g [two]"}}},
	{"a load without an address registers the method: its regions have the registered names",
	 {LOAD_V2(1, 0, 0, "f", "mod", .class_name = "C", .source = "a.c"),
	  LOAD(1, 0x100, 0x10, "g"), LOAD(1, 0x200, 0x10, "h", .source = "b.c"),
	  LOAD(2, 0x300, 0x10, "n")},
	 {{1, 0x100, NULL},
	  {2, 0x100, "C::f@a.c [mod]"},
	  {3, 0x200, "C::f@b.c [mod]"},
	  {4, 0x100, "C::f@a.c [mod]"},
	  {4, 0x300, "n"}}},
	{"the first report of a method counts, also if it has no address",
	 {LOAD(1, 0, 0x40, "f"), LOAD(1, 0, 0, "g"), LOAD(1, 0x100, 0x10, "h"), LOAD(1, 0, 0, "i"),
	  LOAD(1, 0x200, 0x10, "j"), LOAD(2, 0x300, 0x10, "k"), LOAD(2, 0, 0, "l"),
	  LOAD(2, 0x400, 0x10, "m")},
	 {{3, 0x100, "f"}, {5, 0x200, "f"}, {8, 0x400, "k"}}},
	{"an unload ends a registration, and so does the end of the method's last region",
	 {LOAD(1, 0, 0, "f"), UNLOAD(1), LOAD(1, 0x100, 0x10, "g"), LOAD(2, 0, 0, "h"),
	  LOAD(2, 0x200, 0x10, "i"), UNLOAD(2), LOAD(2, 0x300, 0x10, "j")},
	 {{3, 0x100, "g"}, {5, 0x200, "h"}, {7, 0x300, "j"}}},
	{"a registration is of one engine",
	 {LOAD(1, 0, 0, "f"), LOAD(1, 0x100, 0x10, "g", .engine = 1), LOAD(1, 0x200, 0x10, "h"),
	  LOAD(2, 0, 0, "i"), UNLOAD(2, .engine = 1), LOAD(2, 0x300, 0x10, "j")},
	 {{2, 0x100, "g"}, {3, 0x200, "f"}, {6, 0x300, "i"}}},
	{"methods for 32-bit code are a module of their own",
	 {LOAD_V3(1, 0x100, 0x10, "f", "m", 1), LOAD_V3(2, 0x200, 0x10, "g", "m", 2),
	  LOAD_V3(3, 0x300, 0x10, "h", "m", 0)},
	 {{3, 0x100, "f [m (32-bit)]"}, {3, 0x200, "g [m]"}, {3, 0x300, "h [m]"}}},

	/* --- engines ----------------------------------------------------------------------- */
	{"two engines with the same ids do not mix",
	 {LOAD(1, 0x100, 0x10, "a"), LOAD(1, 0x200, 0x10, "b", .engine = 1),
	  LOAD(1, 0x300, 0x10, "c"), INLINE(2, 1, 0x204, 4, "no"),
	  INLINE(2, 1, 0x204, 4, "in", .engine = 1), UNLOAD(1)},
	 {{3, 0x200, "b"},
	  {3, 0x300, "a"},
	  {4, 0x204, "b"},
	  {5, 0x204, "in < b"},
	  {6, 0x100, NULL},
	  {6, 0x300, NULL},
	  {6, 0x204, "in < b"}}},
	{"an update is of the method of the engine that says it",
	 {LOAD(1, 0x100, 0x10, "f", .source = "a.c", LINES(1, {0x10, 3})),
	  {.kind = 15, .engine = 1, .id = 1, .at = 0x100, .size_bytes = 4},
	  UPDATE(1, 0x100, 4)},
	 {{2, 0x100, "f@a.c:3"}, {3, 0x100, "f@a.c"}, {3, 0x104, "f@a.c:3"}}},

	/* --- inlined methods ----------------------------------------------------------------- */
	{"a tree of inlined methods: innermost first, each with its own line there",
	 {LOAD_V2(1, 0x100, 0x100, "top", "mod", .source = "t.c",
		  LINES(3, {0x20, 1}, {0x60, 2}, {0x100, 3})),
	  INLINE(2, 1, 0x120, 0x40, "mid", .source = "m.c", LINES(2, {0x10, 11}, {0x40, 12})),
	  INLINE(3, 2, 0x130, 0x10, "leaf", .source = "l.c", LINES(1, {0x10, 21})),
	  INLINE(4, 1, 0x160, 0x10, "side", .class_name = "K")},
	 {{4, 0x11f, "top@t.c:1 [mod]"},
	  {4, 0x120, "mid@m.c:11 < top@t.c:2 [mod]"},
	  {4, 0x130, "leaf@l.c:21 < mid@m.c:12 < top@t.c:2 [mod]"},
	  {4, 0x140, "mid@m.c:12 < top@t.c:2 [mod]"},
	  {4, 0x160, "K::side < top@t.c:3 [mod]"},
	  {4, 0x170, "top@t.c:3 [mod]"}}},
	{"children before their parents",
	 {INLINE(3, 2, 0x130, 0x10, "leaf"), INLINE(2, 1, 0x120, 0x40, "mid"),
	  LOAD(1, 0x100, 0x100, "top")},
	 {{3, 0x130, "leaf < mid < top"},
	  {3, 0x120, "mid < top"},
	  {3, 0x100, "top"},
	  {2, 0x130, NULL}}},
	{"a child of all of its parent, before it",
	 {INLINE(3, 2, 0x100, 0x10, "leaf"), INLINE(2, 1, 0x100, 0x10, "mid"),
	  LOAD(1, 0x100, 0x10, "top"), INLINE(4, 1, 0x108, 4, "no")},
	 {{3, 0x100, "leaf < mid < top"}, {4, 0x108, "leaf < mid < top"}}},
	{"a method inlined into itself",
	 {LOAD(1, 0x100, 0x40, "fib"), INLINE(1, 1, 0x108, 0x20, "fib"),
	  INLINE(1, 1, 0x110, 0x8, "fib")},
	 {{3, 0x100, "fib"}, {3, 0x108, "fib < fib"}, {3, 0x110, "fib < fib < fib"}}},
	{"one method inlined at several places",
	 {LOAD(1, 0x100, 0x40, "top"), INLINE(2, 1, 0x100, 8, "in", LINES(1, {8, 5})),
	  INLINE(2, 1, 0x110, 8, "in", LINES(1, {8, 6}))},
	 {{3, 0x104, "in@:5 < top"}, {3, 0x108, "top"}, {3, 0x114, "in@:6 < top"}}},
	{"siblings that overlap: the first stays",
	 {LOAD(1, 0x100, 0x40, "top"), INLINE(2, 1, 0x108, 0x10, "a"),
	  INLINE(3, 1, 0x110, 0x10, "b"), INLINE(4, 1, 0x104, 0x20, "c")},
	 {{4, 0x104, "top"}, {4, 0x110, "a < top"}, {4, 0x118, "top"}}},
	{"a child that exceeds its parent is refused",
	 {LOAD(1, 0x100, 0x40, "top"), INLINE(2, 1, 0x138, 0x10, "a"),
	  INLINE(3, 1, 0x110, 0x10, "b"), INLINE(4, 3, 0x118, 0x10, "c"),
	  INLINE(5, 3, 0x108, 4, "d")},
	 {{5, 0x138, "top"}, {5, 0x118, "b < top"}, {5, 0x120, "top"}, {5, 0x108, "top"}}},
	{"a child without a parent is refused",
	 {LOAD(1, 0x100, 0x40, "top"), INLINE(2, 77, 0x108, 8, "a"), INLINE(3, 0, 0x110, 8, "b"),
	  INLINE(4, 2, 0x108, 4, "c")},
	 {{4, 0x108, "top"}, {4, 0x110, "top"}}},
	{"a new region at the place has nothing inlined of the old one",
	 {LOAD(1, 0x100, 0x40, "top"), INLINE(2, 1, 0x108, 8, "in"), LOAD(1, 0x100, 0x40, "top")},
	 {{2, 0x108, "in < top"}, {3, 0x108, "top"}}},
	{"with the region goes what is inlined",
	 {LOAD(1, 0x100, 0x40, "top"), INLINE(2, 1, 0x108, 8, "in"), UNLOAD(1)},
	 {{2, 0x108, "in < top"}, {3, 0x108, NULL}}},

	/* --- updates ---------------------------------------------------------------------- */
	{"an update forgets lines and inlined methods of its range, and keeps the method",
	 {LOAD(1, 0x100, 0x100, "top", .source = "t.c", LINES(1, {0x100, 7})),
	  INLINE(2, 1, 0x120, 0x40, "in"), INLINE(3, 2, 0x130, 0x10, "leaf"),
	  UPDATE(1, 0x138, 0x10)},
	 {{3, 0x138, "leaf < in < top@t.c:7"},
	  {4, 0x137, "leaf < in < top@t.c:7"},
	  {4, 0x138, "top@t.c"},
	  {4, 0x147, "top@t.c"},
	  {4, 0x148, "in < top@t.c:7"},
	  {4, 0x100, "top@t.c:7"}}},
	{"methods inlined into new content are shown",
	 {LOAD(1, 0x100, 0x100, "top", LINES(1, {0x100, 7})), INLINE(2, 1, 0x120, 0x40, "old"),
	  UPDATE(1, 0x110, 0x80), INLINE(3, 1, 0x130, 0x10, "new", LINES(1, {0x10, 4}))},
	 {{4, 0x130, "new@:4 < top"}, {4, 0x120, "top"}, {4, 0x100, "top@:7"}}},
	{"what is inlined may begin in old content and end in new",
	 {LOAD(1, 0x100, 0x100, "top", LINES(1, {0x100, 7})), UPDATE(1, 0x120, 0x10),
	  UPDATE(1, 0x130, 0x10), INLINE(3, 1, 0x118, 0x20, "in")},
	 {{4, 0x118, "in < top@:7"},
	  {4, 0x120, "in < top"},
	  {4, 0x130, "in < top"},
	  {4, 0x138, "top"},
	  {4, 0x140, "top@:7"}}},
	{"an update of another method, or of none, changes nothing",
	 {LOAD(1, 0x100, 0x10, "f", LINES(1, {0x10, 7})), UPDATE(2, 0x100, 4), UPDATE(1, 0x200, 4)},
	 {{3, 0x100, "f@:7"}, {3, 0x200, NULL}}},
	{"a segment of data is no code, one of code is as it was",
	 {LOAD(1, 0x100, 0x100, "f", LINES(1, {0x100, 7})), INLINE(2, 1, 0x110, 0x30, "in"),
	  SEGMENT(DATA, 0x120, 0x10), SEGMENT(CODE, 0x130, 0x10)},
	 {{2, 0x120, "in < f@:7"},
	  {4, 0x120, NULL},
	  {4, 0x110, "in < f@:7"},
	  {4, 0x130, "in < f@:7"}}},
	{"code where data were is new",
	 {LOAD(1, 0x100, 0x100, "f", LINES(1, {0x100, 7})), SEGMENT(DATA, 0x120, 0x10),
	  SEGMENT(CODE, 0x120, 0x10)},
	 {{2, 0x120, NULL}, {3, 0x120, "f"}, {3, 0x130, "f@:7"}}},
	{"segments inside and around earlier ones count, those across their borders do not",
	 {LOAD(1, 0x100, 0x100, "f"), SEGMENT(CODE, 0x120, 0x20), SEGMENT(DATA, 0x130, 0x20),
	  SEGMENT(DATA, 0x128, 8), SEGMENT(DATA, 0x118, 0x30)},
	 {{3, 0x130, "f"},
	  {3, 0x148, "f"},
	  {4, 0x128, NULL},
	  {4, 0x130, "f"},
	  {5, 0x118, NULL},
	  {5, 0x147, NULL},
	  {5, 0x148, "f"}}},

	/* --- lines ----------------------------------------------------------------------- */
	{"offsets of ends: the documented example",
	 {LOAD(1, 0x100, 12, "f", LINES(2, {1, 2}, {12, 4}))},
	 {{1, 0x100, "f@:2"}, {1, 0x101, "f@:4"}, {1, 0x10b, "f@:4"}}},
	{"offsets of ends that begin with an empty range, as LLVM has it",
	 {LOAD(1, 0x100, 12, "f", LINES(3, {0, 1}, {4, 2}, {12, 3}))},
	 {{1, 0x100, "f@:2"}, {1, 0x104, "f@:3"}}},
	{"offsets of beginnings",
	 {LOAD(1, 0x100, 12, "f", LINES(2, {0, 1}, {4, 2}))},
	 {{1, 0x100, "f@:1"}, {1, 0x103, "f@:1"}, {1, 0x104, "f@:2"}, {1, 0x10b, "f@:2"}}},
	{"offsets of ends that end early: no line from there on",
	 {LOAD(1, 0x100, 12, "f", LINES(2, {2, 1}, {4, 2}))},
	 {{1, 0x100, "f@:1"}, {1, 0x103, "f@:2"}, {1, 0x104, "f"}}},
	{"the first of several at one offset counts, and line 0 is none",
	 {LOAD(1, 0x100, 12, "f", LINES(5, {4, 1}, {4, 2}, {6, 0}, {12, 3}, {12, 4})),
	  LOAD(2, 0x200, 12, "g", LINES(4, {0, 1}, {0, 2}, {4, 0}, {6, 3}))},
	 {{2, 0x100, "f@:1"},
	  {2, 0x104, "f"},
	  {2, 0x106, "f@:3"},
	  {2, 0x200, "g@:1"},
	  {2, 0x204, "g"},
	  {2, 0x206, "g@:3"}}},
	{"a table in disorder",
	 {LOAD(1, 0x100, 12, "f", LINES(3, {12, 3}, {1, 1}, {4, 2}))},
	 {{1, 0x100, "f@:1"}, {1, 0x101, "f@:2"}, {1, 0x104, "f@:3"}}},
};

const size_t rule_count = sizeof(rules) / sizeof(rules[0]);
