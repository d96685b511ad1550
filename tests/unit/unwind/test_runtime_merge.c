/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks of native and runtime frames that a model has made together, and taken apart: the merge
 * must make the same stack again. And single cases, as text.
 */
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "tests/unit/cases.h"
#include "unwind/runtimes/runtime_merge.h"

#define OWN	 0x100000ull /* the runtime's file, with its loop at the start */
#define LOOP_END 0x110000ull
#define AGAIN	 0x180000ull /* code that calls the loop again */
#define OWN_END	 0x200000ull
#define JIT	 0x300000ull
#define JIT_END	 0x310000ull
#define OTHER	 0x400000ull /* other code */
#define UNKNOWN	 0x500000ull /* code in anonymous memory that nobody has published */
#define SWITCH	 0x410000ull /* code that switches native stacks */
#define LIBRARY	 0x420000ull /* that switches native stacks */
#define ENTERING 0x100010ull /* the unsettled part of the loop ends here */
#define WORDS	 600

#define RUNTIME(n)     ((uint64_t)JITBPF_FRAME_RUNTIME << JITBPF_FRAME_KIND_SHIFT | (n))
#define INTERPRETER(a) ((uint64_t)JITBPF_FRAME_INTERPRETER << JITBPF_FRAME_KIND_SHIFT | (a))

static const struct runtime_recipe recipe = {
	.loops = {{OWN, LOOP_END, 0, 0}, {JIT, JIT_END, RUNTIME_LOOP_COMPILED, 0}},
	.loop_count = 2,
	.unsettled = {OWN, ENTERING, 0, 0},
	.switches = {{SWITCH, SWITCH + 0x100, 0, 0}},
	.switch_count = 1,
	.again = {AGAIN, AGAIN + 0x1000, 0, 0},
};

/* A stack, taken apart, and what it is when merged. */
struct made {
	uint64_t native[WORDS];
	struct runtime_frame frames[WORDS];
	struct runtime_words words[WORDS];
	uint32_t native_count, frame_count;
	bool native_whole, native_doubtful, runtime_whole;
	uint32_t flags;
	uint64_t expected[4 * WORDS];
	uint32_t expected_count;
	uint64_t next; /* number of a function or an address */
};

static struct merged_stack merged;

static bool is_unknown(const void *context, uint64_t address)
{
	return address >= UNKNOWN;
}

static bool switches(const void *context, uint64_t address)
{
	return address >= LIBRARY && address < UNKNOWN;
}

static void merge(const struct made *made)
{
	const struct native_stack native = {
		.addresses = made->native,
		.count = made->native_count,
		.whole = made->native_whole,
		.doubtful = made->native_doubtful,
		.is_unknown = is_unknown,
		.switches = switches,
	};
	const struct runtime_stack runtime = {
		.recipe = &recipe,
		.own = {OWN, OWN_END, 0, 0},
		.frames = made->frames,
		.words = made->words,
		.count = made->frame_count,
		.whole = made->runtime_whole,
		.flags = made->flags,
	};

	memset(&merged, 0xee, sizeof(merged));
	runtime_merge(&native, &runtime, &merged);
}

static void assert_merged(const struct made *made)
{
	merge(made);
	assert_int_equal(merged.count, made->expected_count);
	assert_memory_equal(merged.words, made->expected, merged.count * sizeof(uint64_t));
}

/* --- cases as text -------------------------------------------------------------------- */

/*
 * Native frames, leaf first: L of the loop, E entering it, J of compiled code, o of the runtime's
 * file, a of what calls the loop again, s of its switch of stacks, g of a library that switches
 * them, x of other code, u of unknown code. Runtime frames, newest first: f, F an entry, M a mark.
 */
static struct made take_apart(const char *native, const char *frames)
{
	struct made made = {.native_whole = true, .runtime_whole = true};

	for (; *native; native++) {
		uint64_t base = *native == 'L'	 ? ENTERING
				: *native == 'E' ? OWN
				: *native == 'J' ? JIT
				: *native == 'o' ? LOOP_END
				: *native == 'a' ? AGAIN
				: *native == 's' ? SWITCH
				: *native == 'g' ? LIBRARY
				: *native == 'u' ? UNKNOWN
						 : OTHER;

		made.native[made.native_count] = base + 1 + made.native_count;
		made.native_count++;
	}
	for (; *frames; frames++) {
		uint32_t i = made.frame_count++;

		made.frames[i].check = *frames != 'f';
		if (*frames != 'M')
			made.words[i] = (struct runtime_words){RUNTIME(i), 7};
	}
	return made;
}

/* Returns a merged stack as text: runtime frames are f, or c if compiled; hidden ones in (). */
static const char *merged_text(void)
{
	static char text[WORDS];
	size_t at = 0;

	for (uint32_t i = 0; i < merged.count && at < sizeof(text) - 4; i++) {
		uint64_t word = merged.words[i], kind = word >> JITBPF_FRAME_KIND_SHIFT;
		uint64_t address = word & ((1ull << JITBPF_FRAME_KIND_SHIFT) - 1);
		char c = address < LOOP_END  ? 'L'
			 : address < OWN_END ? 'o'
			 : address < JIT_END ? 'J'
			 : address < SWITCH  ? 'x'
			 : address < LIBRARY ? 's'
			 : address < UNKNOWN ? 'g'
					     : 'u';

		if (kind == JITBPF_FRAME_GAP)
			text[at++] = '|';
		else if (kind == JITBPF_FRAME_RUNTIME)
			text[at++] = merged.words[++i] & JITBPF_POSITION_COMPILED ? 'c' : 'f';
		else if (kind == JITBPF_FRAME_INTERPRETER)
			at += (size_t)sprintf(text + at, "(%c)", c);
		else
			text[at++] = c;
	}
	text[at] = 0;
	return text;
}

static const struct {
	const char *native, *frames, *expected;
	bool cut_native, cut_runtime, cut;
} cases[] = {
	/* One loop; C functions inside of it stay, the runtime's own outside of it are hidden. */
	{"Loox", "fffF", "(L)ffff(o)(o)x", 0, 0, 0},
	{"xoLox", "fF", "xo(L)ff(o)x", 0, 0, 0},
	/* A callback from C: the runtime's C functions between runtime frames are hidden, too. */
	{"LoxoLox", "FffF", "(L)f(o)x(o)(L)fff(o)x", 0, 0, 0},
	/* The outermost frame is where a thread begins, unless the native stack is cut. */
	{"Looo", "fF", "(L)ff(o)(o)o", 0, 0, 0},
	{"Looo", "fF", "(L)ff(o)(o)(o)", 1, 0, 0},
	/* Marks end groups. The innermost loop may have a mark, and no frame yet. */
	{"LoLo", "ffMfM", "(L)ff(o)(L)fo", 0, 0, 0},
	{"LoLo", "MfM", "Lo(L)fo", 0, 0, 0},
	/* Compiled code in the frame of the loop; called by the loop; a caller. */
	{"Jox", "ffF", "(J)cff(o)x", 0, 0, 0},
	{"JLox", "ffF", "(J)(L)cff(o)x", 0, 0, 0},
	{"xoJoLx", "fFF", "xo(J)cf(o)(L)fx", 0, 0, 0},
	{"LJx", "FF", "(L)f(J)cx", 0, 0, 0},
	/* A loop that was called again is the same one. */
	{"xLaoLox", "fF", "x(L)(o)(o)(L)ff(o)x", 0, 0, 0},
	{"oLaLaLoLx", "FfF", "o(L)(o)(L)(o)(L)f(o)(L)ffx", 0, 0, 0},
	{"LoLaLx", "fF", "Lo(L)(o)(L)ffx", 0, 0, 0},
	{"La", "fF", "(L)ff(o)", 1, 0, 0},
	/* Trampolines: unknown code that has called the loop of a runtime frame, and no other. */
	{"LuoLuo", "FF", "(L)f(u)(o)(L)f(u)o", 0, 0, 0},
	{"Lu", "FF", "(L)f(u)|f", 1, 0, 0},
	{"EuoLuo", "F", "L(u)o(L)f(u)o", 0, 0, 0},
	{"xLuoLuo", "FF", "x(L)f(u)(o)(L)f(u)o", 0, 0, 0},
	{"JuLox", "FF", "(J)cu(L)f(o)x", 0, 0, 0},
	{"uLoux", "F", "u(L)f(o)ux", 0, 0, 0},
	{"Lux", "", "Lux", 0, 0, 0},
	/* The leaf enters the loop, or leaves it. */
	{"ELox", "F", "L(L)f(o)x", 0, 0, 0},
	{"LoLx", "fF", "Lo(L)ffx", 0, 0, 0},
	/* It has more loop frames than it may have. */
	{"LoLoLx", "F", "(L)foLoLx", 0, 0, 1},
	/* No runtime frame at all. */
	{"LLx", "", "LLx", 0, 0, 1},
	{"Lx", "", "Lx", 0, 0, 0},
	{"xx", "", "xx", 0, 0, 0},
	/* Frames of another stack, as of who resumed a fiber, are callers. */
	{"xLx", "fFfF", "x(L)ffxff", 0, 0, 0},
	/* The native stack is cut: functions of the runtime that called what is missing follow. */
	{"x", "fFfF", "x|ffff", 1, 0, 0},
	{"x", "MfMM", "x|f", 1, 0, 0},
	{"x", "M", "x", 1, 0, 0},
	{"x", "", "x", 1, 0, 0},
	{"", "fF", "", 1, 0, 0},
	{"LoL", "FF", "(L)f(o)(L)f", 1, 0, 0},
	{"LoL", "FFfF", "(L)f(o)(L)f|ff", 1, 0, 0},
	{"EoL", "fFF", "Lo(L)ff|f", 1, 0, 0},
	{"xo", "ff", "xo", 1, 1, 1},
	/* Runtime frames are cut: the sure ones are kept, and where they end is marked. */
	{"LoLoLox", "fFf", "(L)ff(o)(L)f|oLox", 0, 1, 1},
	{"Lox", "ff", "(L)ff|ox", 0, 1, 1},
	{"xLoo", "fFf", "x(L)ff(o)(o)f|", 0, 1, 1},
	{"Lo", "f", "(L)f|o|", 1, 1, 1},
	{"L", "f", "(L)f", 1, 1, 1},
	/* None could be read, and a whole native stack without the loop lacks none. */
	{"xx", "", "xx", 0, 1, 0},
	{"xx", "", "xx", 1, 1, 1},
	{"xLx", "", "xLx", 0, 1, 1},
	{"xx", "f", "xx", 0, 1, 1},
	/* Native stacks are switched: what belongs to the runtime frames is not known. */
	{"soLox", "fF", "s|ff", 0, 0, 1},
	{"soLox", "fFf", "s|fff|", 0, 1, 1},
	{"soLox", "fF", "s|ff", 1, 0, 1},
	{"soLox", "ff", "s|ff|", 1, 1, 1},
	{"xsLox", "fF", "x|ff", 0, 0, 1},
	{"xLsLox", "FfF", "x(L)fs(L)ff(o)x", 0, 0, 0},
	{"xgoLox", "fF", "x|ff", 0, 0, 1},
	{"goLxLox", "FfF", "g|fff", 0, 0, 1},
	/* The library began this stack: frames behind it are of other stacks. */
	{"xLoggoLox", "fF", "x(L)ff(o)g", 0, 0, 0},
	{"LoxLoggxLox", "fFfF", "(L)ff(o)x(L)ff(o)g", 0, 0, 0},
	/* It has called a function, as one that traces switches. */
	{"LoggLox", "FfF", "(L)f(o)gg(L)ff(o)x", 0, 0, 0},
};

CASE(test_cases)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made made = take_apart(cases[i].native, cases[i].frames);

		made.native_whole = !cases[i].cut_native;
		made.runtime_whole = !cases[i].cut_runtime;
		merge(&made);
		assert_string_equal(merged_text(), cases[i].expected);
		assert_int_equal(merged.cut, cases[i].cut);
	}
}

static const struct {
	const char *native, *frames;
	uint32_t flags;
	const char *expected;
	bool cut;
} flagged_cases[] = {
	/* One loop frame too few: it is of another state, if the leaf runs the newest frame. */
	{"LoLx", "fF", JITBPF_RUNTIME_LEAF_RUNS, "(L)ffoLx", 1},
	{"LoLx", "fF", JITBPF_RUNTIME_LEAF_RUNS_NOT, "Lo(L)ffx", 0},
	{"LoLoLx", "fFF", JITBPF_RUNTIME_LEAF_RUNS_NOT, "Lo(L)ff(o)(L)fx", 0},
	{"LoLoLx", "F", JITBPF_RUNTIME_LEAF_RUNS_NOT, "Lo(L)foLx", 1},
	{"Lx", "F", JITBPF_RUNTIME_LEAF_RUNS, "(L)fx", 0},
	/* A leaf outside of the loop runs nothing. */
	{"xLx", "F", JITBPF_RUNTIME_LEAF_RUNS_NOT, "x(L)fx", 0},
	/* Doubtful frames need as many groups as there are loop frames. */
	{"xLx", "fF", JITBPF_RUNTIME_DOUBTFUL, "x(L)ffx", 0},
	{"xLoLx", "fF", JITBPF_RUNTIME_DOUBTFUL, "xLoLx", 1},
	{"xLoLoLx", "fFF", JITBPF_RUNTIME_DOUBTFUL, "xLoLoLx", 1},
	{"LoLx", "F", JITBPF_RUNTIME_DOUBTFUL | JITBPF_RUNTIME_LEAF_RUNS, "LoLx", 1},
};

CASE(test_flags)
{
	for (size_t i = 0; i < sizeof(flagged_cases) / sizeof(flagged_cases[0]); i++) {
		struct made made = take_apart(flagged_cases[i].native, flagged_cases[i].frames);

		made.flags = flagged_cases[i].flags;
		merge(&made);
		assert_string_equal(merged_text(), flagged_cases[i].expected);
		assert_int_equal(merged.cut, flagged_cases[i].cut);
	}
}

/*
 * The runtime could tell whether the leaf has a group, but the sample does not: one group too few
 * may as well be that of another state, so none is placed.
 */
CASE(test_not_told)
{
	static const struct runtime_recipe tells = {
		.loops = {{OWN, LOOP_END, 0, 0}},
		.loop_count = 1,
		.unsettled = {OWN, ENTERING, 0, 0},
		.steps_to_stack = 2,
	};
	static const struct {
		const char *native, *frames, *expected;
		bool cut;
	} told[] = {
		{"LoLx", "fF", "LoLx", true},	   {"LoLx", "FF", "(L)f(o)(L)fx", false},
		{"EoLx", "fF", "Lo(L)ffx", false}, {"xoLx", "fF", "xo(L)ffx", false},
		{"Lx", "", "Lx", false},
	};

	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		const struct made made = take_apart(told[i].native, told[i].frames);
		const struct native_stack native = {
			.addresses = made.native,
			.count = made.native_count,
			.whole = true,
			.is_unknown = is_unknown,
		};
		const struct runtime_stack runtime = {
			.recipe = &tells,
			.own = {OWN, OWN_END, 0, 0},
			.frames = made.frames,
			.words = made.words,
			.count = made.frame_count,
			.whole = true,
		};

		runtime_merge(&native, &runtime, &merged);
		assert_string_equal(merged_text(), told[i].expected);
		assert_int_equal(merged.cut, told[i].cut);
	}
}

static const struct runtime_recipe compiles = {
	.loops = {{OWN, LOOP_END, 0, 0}},
	.loop_count = 1,
	.entry_is_early = 1,
	.compiled = {.exists = 1, .callers = {OWN, OWN_END, 0, 0}},
};

static const struct {
	const char *native, *frames, *expected;
	bool cut_native, cut_runtime, cut;
} compiled_cases[] = {
	/* Unknown code that the runtime's own file has called, if by its loop or not. */
	{"uLox", "ffF", "(u)(L)cff(o)x", 0, 0, 0},
	{"uox", "ffF", "(u)cff(o)x", 0, 0, 0},
	{"ouLox", "ffF", "o(u)(L)cff(o)x", 0, 0, 0},
	{"xuoLox", "FfF", "x(u)c(o)(L)ff(o)x", 0, 0, 0},
	{"LuoLox", "FFfF", "(L)f(u)c(o)(L)ff(o)x", 0, 0, 0},
	/* Other unknown code. */
	{"uxLox", "fF", "ux(L)ff(o)x", 0, 0, 0},
	{"uuLox", "fF", "u(u)(L)cf(o)x", 0, 0, 0},
	/* Its caller is not known. */
	{"u", "fF", "u|ff", 1, 0, 0},
	/* The loop was not called yet for the newest group. */
	{"ooLox", "FfF", "(o)f(o)(L)ff(o)x", 0, 0, 0},
	{"xoxLox", "FfF", "x(o)fx(L)ff(o)x", 0, 0, 0},
	{"ox", "fF", "(o)ffx", 0, 0, 0},
	/* The outermost functions are native: no loop runs them, and no group is early. */
	{"ooLox", "fFf", "oo(L)ff(o)xf", 0, 0, 0},
	{"LoLox", "fFf", "Lo(L)ff(o)xf", 0, 0, 0},
	{"ooLox", "FfFf", "(o)f(o)(L)ff(o)xf", 0, 0, 0},
	/* No frame of the runtime is inside of its loop. */
	{"xLox", "FfF", "x(L)f(o)xff", 0, 0, 0},
	/* It is not known whether groups are missing. */
	{"ooLo", "FfF", "oo(L)f(o)|ff", 1, 0, 0},
};

CASE(test_compiled)
{
	for (size_t i = 0; i < sizeof(compiled_cases) / sizeof(compiled_cases[0]); i++) {
		const struct made made =
			take_apart(compiled_cases[i].native, compiled_cases[i].frames);
		const struct native_stack native = {
			.addresses = made.native,
			.count = made.native_count,
			.whole = !compiled_cases[i].cut_native,
			.is_unknown = is_unknown,
		};
		const struct runtime_stack runtime = {
			.recipe = &compiles,
			.own = {OWN, OWN_END, 0, 0},
			.frames = made.frames,
			.words = made.words,
			.count = made.frame_count,
			.whole = !compiled_cases[i].cut_runtime,
		};

		runtime_merge(&native, &runtime, &merged);
		assert_string_equal(merged_text(), compiled_cases[i].expected);
		assert_int_equal(merged.cut, compiled_cases[i].cut);
	}
}

/* Of the newest frame, compiled code has written no position; of others, that of a call. */
CASE(test_compiled_positions)
{
	const struct made made = take_apart("uLo", "ffF");
	const struct native_stack native = {
		.addresses = made.native,
		.count = made.native_count,
		.whole = true,
		.is_unknown = is_unknown,
	};
	const struct runtime_stack runtime = {
		.recipe = &compiles,
		.own = {OWN, OWN_END, 0, 0},
		.frames = made.frames,
		.words = made.words,
		.count = made.frame_count,
		.whole = true,
	};

	runtime_merge(&native, &runtime, &merged);
	assert_int_equal(merged.words[2], RUNTIME(0));
	assert_int_equal(merged.words[3], JITBPF_POSITION_COMPILED);
	assert_int_equal(merged.words[5], 7);
}

/* The code of the outermost native frame is not known, so its callers are not, either. */
CASE(test_doubtful)
{
	struct made made = take_apart("x", "fF");

	made.native_whole = false;
	made.native_doubtful = true;
	merge(&made);
	assert_string_equal(merged_text(), "x");
}

/* --- the model -------------------------------------------------------------------------- */

static uint64_t random_state;

static uint32_t below(uint32_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)((random_state >> 32) % limit);
}

/* Stacks are made from the outermost frame on, and turned round in the end. */
static void expect(struct made *made, uint64_t first, uint64_t second)
{
	if (second)
		made->expected[made->expected_count++] = second;
	made->expected[made->expected_count++] = first;
}

/*
 * Native functions call each other, at least one: the loop does not call itself. hidden: those of
 * the runtime only serve it, but for the outermost one.
 */
static void call_native(struct made *made, bool hidden)
{
	for (uint32_t count = 1 + below(3); count; count--) {
		bool own = below(2), is_start = !made->native_count;
		uint64_t address = (own ? LOOP_END : OTHER) + 1 + made->next++ % 0xf000;

		made->native[made->native_count++] = address;
		expect(made, own && hidden && !is_start ? INTERPRETER(address) : address, 0);
	}
}

static void add_frame(struct made *made, bool is_entry, uint64_t compiled)
{
	uint64_t number = made->next++;

	made->frames[made->frame_count].check = is_entry;
	made->words[made->frame_count++] = (struct runtime_words){RUNTIME(number), number % 1000};
	expect(made, RUNTIME(number), (number % 1000) | compiled | 1ull << 40);
	made->words[made->frame_count - 1].position |= 1ull << 40; /* so that it is not 0 */
}

/* The loop runs some functions. Marks: the entry is a frame of its own. */
static void call_loop(struct made *made, bool marks)
{
	bool compiled = !below(4), both = compiled && below(2);
	uint64_t loop = ENTERING + 1 + made->next++ % 0xf000;
	uint64_t jit = JIT + 1 + made->next++ % 0xf000;
	uint32_t count = 1 + below(5);

	if (marks)
		made->frames[made->frame_count++].check = 1;
	for (uint32_t i = 0; i < count; i++)
		add_frame(made, !marks && !i,
			  compiled && i == count - 1 ? JITBPF_POSITION_COMPILED : 0);
	if (!compiled || both) {
		made->native[made->native_count++] = loop;
		expect(made, INTERPRETER(loop), 0);
	}
	if (compiled) {
		made->native[made->native_count++] = jit;
		expect(made, INTERPRETER(jit), 0);
	}
}

static void turn_words(uint64_t *words, uint32_t count)
{
	for (uint32_t i = 0; i < count / 2; i++) {
		uint64_t word = words[i];

		words[i] = words[count - 1 - i];
		words[count - 1 - i] = word;
	}
}

static void turn(struct made *made)
{
	for (uint32_t i = 0; i < made->frame_count / 2; i++) {
		uint32_t to = made->frame_count - 1 - i;
		struct runtime_frame frame = made->frames[i];
		struct runtime_words words = made->words[i];

		made->frames[i] = made->frames[to];
		made->words[i] = made->words[to];
		made->frames[to] = frame;
		made->words[to] = words;
	}
	turn_words(made->native, made->native_count);
	turn_words(made->expected, made->expected_count);
	/* The leaf is a pc. */
	if (made->native_count)
		made->native[0]--;
	for (uint32_t i = 0; made->native_count && i < made->expected_count; i++) {
		uint64_t kind = made->expected[i] >> JITBPF_FRAME_KIND_SHIFT;

		if (kind != JITBPF_FRAME_RUNTIME) {
			made->expected[i]--;
			break;
		}
		i++;
	}
}

/* Make the stack of a thread at some moment. */
static void make(struct made *made, uint64_t seed)
{
	bool marks = seed % 2;
	uint32_t loops = below(6);

	memset(made, 0, sizeof(*made));
	made->native_whole = made->runtime_whole = true;
	made->next = 1 + below(100);
	for (uint32_t i = 0; i < loops; i++) {
		call_native(made, true);
		call_loop(made, marks);
	}
	if (loops && !below(4)) { /* it enters or leaves a loop that has no frame */
		uint64_t loop = ENTERING + 1 + made->next++ % 0xf000;

		call_native(made, false);
		made->native[made->native_count++] = loop;
		expect(made, loop, 0);
	} else {
		call_native(made, false);
	}
	turn(made);
}

CASE(test_model)
{
	static struct made made;

	for (uint64_t seed = 1; seed <= 20000; seed++) {
		random_state = seed * 0x9e3779b97f4a7c15ull;
		make(&made, seed);
		assert_merged(&made);
		assert_false(merged.cut);
	}
}

/* Returns the first frame from `at` on that has a function, or the number of frames. */
static uint32_t without_function(const struct made *made, uint32_t at)
{
	while (at < made->frame_count && !made->words[at].function)
		at++;
	return at;
}

/* Whatever the frames are, none is lost or turned round, and there is room. */
CASE(test_any_frames)
{
	static struct made made;

	for (uint64_t seed = 1; seed <= 20000; seed++) {
		uint32_t native = 0, runtime = 0;

		random_state = seed * 0x2545f4914f6cdd1dull;
		memset(&made, 0, sizeof(made));
		made.native_count = below(12);
		made.frame_count = below(12);
		made.native_whole = below(2);
		made.runtime_whole = below(2);
		for (uint32_t i = 0; i < made.native_count; i++)
			made.native[i] = OWN + below(SWITCH - OWN);
		for (uint32_t i = 0; i < made.frame_count; i++) {
			made.frames[i].check = below(3) == 0;
			if (below(4))
				made.words[i] = (struct runtime_words){RUNTIME(i), i};
		}
		merge(&made);
		for (uint32_t i = 0; i < merged.count; i++) {
			uint64_t kind = merged.words[i] >> JITBPF_FRAME_KIND_SHIFT;
			uint64_t value = merged.words[i] & ((1ull << JITBPF_FRAME_KIND_SHIFT) - 1);

			if (kind == JITBPF_FRAME_GAP) {
				assert_true(i == merged.count - 1 ||
					    (!made.native_whole && native == made.native_count) ||
					    (!made.runtime_whole &&
					     without_function(&made, runtime) == made.frame_count));
				continue;
			}
			if (kind != JITBPF_FRAME_RUNTIME) {
				assert_int_equal(value, made.native[native++]);
				continue;
			}
			runtime = without_function(&made, runtime);
			assert_int_equal(value, runtime);
			assert_int_equal(merged.words[++i] & JITBPF_POSITION_LINE, runtime++);
		}
		assert_int_equal(native, made.native_count);
	}
}

/* The largest stacks fit: alternating loops, and all frames behind one. */
CASE(test_most_frames)
{
	static struct runtime_frame frames[JITBPF_RUNTIME_FRAMES_MAX];
	static struct runtime_words words[JITBPF_RUNTIME_FRAMES_MAX];
	static uint64_t addresses[JITBPF_USER_FRAMES_MAX];
	const struct native_stack native = {addresses, JITBPF_USER_FRAMES_MAX, false, false};
	const struct runtime_stack runtime = {.recipe = &recipe,
					      .frames = frames,
					      .words = words,
					      .count = JITBPF_RUNTIME_FRAMES_MAX,
					      .whole = true};

	for (int entries = 0; entries < 2; entries++) {
		for (uint32_t i = 0; i < JITBPF_RUNTIME_FRAMES_MAX; i++) {
			frames[i].check = (uint64_t)entries;
			words[i] = (struct runtime_words){RUNTIME(i + 1), 1};
			addresses[i] = entries ? OTHER : ENTERING + 1;
		}
		runtime_merge(&native, &runtime, &merged);
		assert_int_equal(merged.count, JITBPF_USER_WORDS_MAX - !entries);
	}
}
