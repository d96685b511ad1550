/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/ledger_terms.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/scope.h"
#include "base/text.h"
#include "sink/file_packages.h"
#include "sink/sink.h"

const struct ledger_word ledger_fates[FATE_COUNT] = {
	[FATE_RESOLVED] =
		{"resolved", "resolved",
		 "Every frame of the sample is in known code, and its stack reaches the root."},
	[FATE_CODE_UNKNOWN] =
		{"code_unknown", "[unknown] code",
		 "A frame of the sample, shown as [unknown], is at an address without known "
		 "code.",
		 "No engine published the code, or its report came too late, or the code may "
		 "have ended.",
		 "'jitbpf list' says which processes do not publish their code, and what "
		 "their engines need"},
	[FATE_STACK_CUT] =
		{"stack_cut", "stack cut",
		 "The walk of the stack ended before its root; [cut] is shown in place of the "
		 "missing callers. All other frames are in known code.",
		 "The summary counts the reasons below it.", "'jitbpf explain' has each reason"},
	[FATE_LOST] =
		{"lost", "lost", "The sample was taken, but not delivered.",
		 "A ring was full since jitbpf did not get enough CPU time, or memory ran out.",
		 "use a larger --sample-ring, or fewer samples with -F"},
};

const struct ledger_word ledger_cuts[LEDGER_CUT_COUNT] = {
	[JITBPF_END_NONE] = {"none", "no user stack", "The sample has no stack of a program.",
			     "It is of a kernel thread, or of a process that begins or ends."},
	[JITBPF_END_ROOT] = {"root", "at the root", "The walk has reached the outermost frame."},
	[JITBPF_END_BAD_FRAME] =
		{"bad_frame", "bad frame pointer",
		 "The next frame is impossible: it is not above the last one on the stack, or "
		 "no function returns to its address.",
		 "A function uses rbp for other values and has no unwind information.",
		 "build such code with unwind tables, or with -fno-omit-frame-pointer"},
	[JITBPF_END_UNREADABLE] = {"unreadable", "stack not readable",
				   "A word of the stack could not be read.",
				   "Its page was not in memory, or the frame before it was wrong."},
	[JITBPF_END_DEPTH] =
		{"depth", "deeper than 1,024 frames",
		 "The stack has more frames than a sample keeps; the innermost are kept.",
		 "The program recurses deeply."},
	[JITBPF_END_COMPAT] = {"compat", "code of another segment",
			       "The sample is in code whose segment is neither that of 64-bit nor "
			       "that of 32-bit programs.",
			       "The program runs 16-bit code, as Wine and DOS emulators can."},
	[JITBPF_END_NO_RULE] =
		{"no_rule", "no unwind rule", "No rule says where the caller of a frame is.",
		 "The code has no unwind information, and its analysis found no rule; or "
		 "the file was not read in time.",
		 "build native code with unwind tables (the default of compilers)"},
	[JITBPF_END_COPY] = {"copy", "deeper than the part that is copied",
			     "The rest of the stack was not copied for the walk in user space.",
			     "A sample carries at most 64 KB of stack, and its frames take more."},
	[JITBPF_END_NO_ROOM] =
		{"no_room", "no room for a copy of the stack",
		 "The walk had to go on in user space, but the stack could not be copied.",
		 "The ring of samples was nearly full.",
		 "use a larger --sample-ring, or fewer samples with -F"},
	[JITBPF_END_NO_ROOT] =
		{"no_root", "no known beginning of the stack",
		 "No caller was found, and no stack is known to begin in the outermost frame's code.",
		 "The program switches between stacks in a way that jitbpf does not know, or a rule "
		 "for a frame was wrong."},
	[JITBPF_END_FROZEN] =
		{"frozen", "callers of a virtual thread in the heap",
		 "The callers of the outermost frame are not on the stack.",
		 "A virtual thread of Java has waited since; the JVM keeps its outer frames in the "
		 "heap until the inner ones return."},
	[LEDGER_CUT_LEFT_OUT] =
		{"left_out", "too many call paths (--max-memory)",
		 "The profile had no room for the order of all callers: those between two "
		 "[callers in no order] have none, and SELF and TOTAL are exact. Without room "
		 "for callers, [other callers] is shown: graphs and live views lack these "
		 "callers, and tables of functions have their TOTAL. Or [too many call paths] is "
		 "shown in place of all frames.",
		 "The processes of an owner used their share of the memory.",
		 "use a larger --max-memory, or " LEDGER_FEWER_PROCESSES},
};

const struct ledger_word ledger_memories[LEDGER_MEMORY_COUNT] = {
	[LEDGER_MEMORY_CODE] =
		{"code", "JIT methods and mappings",
		 "Code, mappings and code events of an owner's processes were not kept.",
		 "The owner, a user in a cgroup, used its share of the memory.",
		 "use a larger --max-memory, or " LEDGER_FEWER_PROCESSES},
	[LEDGER_MEMORY_PROFILE] =
		{"profile", "call paths, names, threads and processes",
		 "Call paths, names, threads or processes of an owner were not kept.",
		 "The owner, a user in a cgroup, used its share of the memory.",
		 "use a larger --max-memory, or " LEDGER_FEWER_PROCESSES},
	[LEDGER_MEMORY_FILES] = {"files", "files",
				 "Files that an owner's processes have mapped were not kept.",
				 "The owner, a user in a cgroup, used its share of the memory.",
				 "use a larger --max-memory, or " LEDGER_FEWER_PROCESSES},
};

const struct ledger_word ledger_singles[LEDGER_SINGLE_COUNT] = {
	[LEDGER_TAKEN] =
		{"taken", "samples taken",
		 "All samples: the sum of those that are resolved, in [unknown] code, cut and "
		 "lost."},
	[LEDGER_NAMED] =
		{"named", "named",
		 "Samples whose innermost frame has the name of a function, not only of a file "
		 "such as [php8.2].",
		 "The others are in files without symbols, or in code that no engine published.",
		 "the summary and the page say which packages to install; else " FILE_PACKAGES_ADVICE},
	[LEDGER_RUNTIME_FUNCTIONS] =
		{"runtime_functions", "with functions of a runtime",
		 "Samples with at least one function of a program in Python, PHP or the like, as its "
		 "programmer knows it.",
		 "The others were taken while the runtime starts or ends, in threads that run only "
		 "native code, or in processes whose functions are not shown.",
		 "the summary says for each runtime whether its functions are shown"},
	[LEDGER_RUNTIME_CUT] =
		{"runtime_cut", "functions of a runtime missing",
		 "Samples in which some functions of a runtime are missing; native code of the "
		 "runtime is shown in their place.",
		 "They could not be read: their memory was paged out, or the runtime was changing "
		 "them."},
	[LEDGER_RUNTIME_UNKNOWN] =
		{"runtime_unknown", "unknown functions of a runtime",
		 "Samples with a frame such as [unknown php function] in place of a function of "
		 "a runtime.",
		 "The function ended before its name was read, as code that runs once: imports, eval, "
		 "a request of PHP without opcache."},
	[LEDGER_CUT_UNPUBLISHED] =
		{"cut_unpublished", "cut in JIT code that no engine published",
		 "Samples whose stack is cut, with JIT code that ran for functions of a runtime, "
		 "such as PHP's. The functions are shown, but callers outside of them may be missing.",
		 "The engine did not publish this code, so the walk of the stack had no rule for it.",
		 "the summary and the page say how to start the program, so that its engine does"},
	[LEDGER_FRAME_POINTERS] =
		{"frame_pointers", "frame pointers assumed",
		 "Samples in which a caller was found by frame pointer: it is code that functions "
		 "return to, but the caller before it may be missing.",
		 "The code has neither unwind information nor a rule from its analysis."},
	[LEDGER_TOTAL_UNKNOWN] =
		{"total_unknown", "missing in the TOTAL of some of their functions",
		 "Samples with [other callers] of which at least one had no name yet: the TOTAL of its "
		 "function is too small by up to this number.",
		 "The profile had no room for their call paths, and a caller had no room either, or "
		 "its name was not read in time.",
		 "use a larger --max-memory, or " LEDGER_FEWER_PROCESSES},
	[LEDGER_THROTTLED] = {"throttled", "throttled",
			      "Time, over all CPUs, in which the kernel took no samples.",
			      "Samples took more CPU time than the kernel allows "
			      "(kernel.perf_cpu_time_max_percent).",
			      "take fewer samples with -F"},
	[LEDGER_MALFORMED_RECORDS] =
		{"malformed_records", "records that could not be read",
		 "Invalid records of the recording or of the kernel, which were skipped.",
		 "The recording is damaged, or a newer jitbpf made it.",
		 "use the version of jitbpf that made the recording; report it if it "
		 "is this one"},
	[LEDGER_OTHERS] =
		{"others_of_user", "[others of user N]",
		 "A row of several processes of user N, counted together. It has their samples, "
		 "but not their names.",
		 "The user's processes used their share of the memory for threads and processes, "
		 "and have so many names that they could not be counted by name.",
		 "use a larger --max-memory, or " LEDGER_FEWER_PROCESSES},
	[LEDGER_UNNAMED] =
		{"unnamed", "samples without names of functions",
		 "The innermost frame of the sample is in a file that is known, but no symbol of "
		 "it says which function that is.",
		 "The file is stripped, and its debug symbols are not installed; or it was gone "
		 "before it was opened (files_gone).",
		 FILE_PACKAGES_ADVICE},
};

const struct ledger_word ledger_runtimes[LEDGER_RUNTIME_COUNT] = {
	[JITBPF_RUNTIME_SHOWN] = {"shown", "shown",
				  "The functions of the runtime are shown as frames of the stack."},
	[JITBPF_RUNTIME_STARTING] = {"starting", "not shown yet: it runs none",
				     "The runtime of the process runs no functions yet.",
				     "The recording has ended before it did."},
	[JITBPF_RUNTIME_OTHER_VERSION] =
		{"version_unknown", "not shown: this version or build is not known",
		 "The functions of the runtime are not shown; its native code is shown instead.",
		 "This version of jitbpf does not know the structures of that version of the "
		 "runtime, or of that kind of build: CPython without a global lock.",
		 "use a newer jitbpf, or another version or build of the runtime"},
	[JITBPF_RUNTIME_NOT_AS_KNOWN] =
		{"not_as_known", "not shown: it differs from its version",
		 "The functions of the runtime are not shown; its native code is shown instead.",
		 "The structures in the memory of the process are not those of the version that it "
		 "says it is. It may be a build with other options, such as free-threaded Python.",
		 "use a build with the usual options"},
	[JITBPF_RUNTIME_NO_SYMBOLS] =
		{"no_symbols", "not shown: its structures were not found",
		 "The functions of the runtime are not shown; its native code is shown instead.",
		 "No symbol of the runtime's file says where its structures are.",
		 "use a runtime whose file has its dynamic symbols"},
	[JITBPF_RUNTIME_MEMORY_REFUSED] =
		{"memory_refused", "not shown: its memory could not be read",
		 "The functions of the runtime are not shown; its native code is shown instead.",
		 "Memory or files of the process could not be read, or not in time.",
		 "record again"},
	[JITBPF_RUNTIME_ENDED] =
		{"ended", "not shown: it ended before they were read",
		 "The functions of the runtime are not shown; its native code is shown instead.",
		 "The process has lived for some milliseconds only, which the start of the runtime "
		 "took, or the machine was so busy that they were not read in time.",
		 "let one process do more of the work; the first process of a program takes "
		 "longest, so record several"},
};

const struct ledger_word ledger_columns[LEDGER_COLUMN_COUNT] = {
	{"share", "SHARE", "The samples of the row, of all samples taken."},
	{"samples", "SAMPLES",
	 "Each sample is a part of a second on a CPU: with -F 99, 99 samples are a second."},
	{"jit_code", "JIT CODE", "The size of the JIT code that the row's processes published."},
	{"processes", "PROCESSES", "How many processes share the row; --by pid has one for each."},
	{"inside", "INSIDE", "The pid that the process has in its own pid namespace."},
	{"command", "COMMAND", "The name of the process, which the kernel cuts after 15 bytes."},
	{"container", "CONTAINER OR UNIT",
	 "Where the process was at its samples: a container by name or ID, a systemd unit, or a "
	 "cgroup."},
	{"self", "SELF",
	 "Samples in the function itself, and in what is hidden below it, such as kernel frames "
	 "with --kernel=no."},
	{"total", "TOTAL", "Samples in the function or in functions that it called."},
	{"kind", "KIND", "What the frame is: jit, native, inlined or kernel code."},
	{"module", "MODULE", "The file of the function; [jit]: JIT code whose engine names none."},
};

static const struct {
	const char *group; /* in JSON; of a column: "column." */
	const struct ledger_word *words;
	size_t count, stride_bytes;
} tables[] = {
	{"samples.", &ledger_singles[LEDGER_TAKEN], 1, sizeof(struct ledger_word)},
	{"samples.", ledger_fates, FATE_COUNT, sizeof(struct ledger_word)},
	{"samples.", &ledger_singles[LEDGER_NAMED], LEDGER_THROTTLED - LEDGER_NAMED,
	 sizeof(struct ledger_word)},
	{"samples.cut.", ledger_cuts, LEDGER_CUT_COUNT, sizeof(struct ledger_word)},
	{"", &ledger_singles[LEDGER_THROTTLED], LEDGER_SINGLE_COUNT - LEDGER_THROTTLED,
	 sizeof(struct ledger_word)},
	{"jit.", &ledger_jit[0].word, LEDGER_JIT_COUNT, sizeof(struct ledger_jit_word)},
	{"runtimes.", ledger_runtimes, LEDGER_RUNTIME_COUNT, sizeof(struct ledger_word)},
	{"over_memory.", ledger_memories, LEDGER_MEMORY_COUNT, sizeof(struct ledger_word)},
	{"counters.", ledger_counters, JITBPF_COUNTER_MAX, sizeof(struct ledger_word)},
	{"column.", ledger_columns, LEDGER_COLUMN_COUNT, sizeof(struct ledger_word)},
};

const struct ledger_word *ledger_term_at(size_t i, const char **ret_group)
{
	for (size_t table = 0; table < ARRAY_SIZE(tables); i -= tables[table++].count) {
		if (i >= tables[table].count)
			continue;
		if (ret_group)
			*ret_group = tables[table].group;
		return (const struct ledger_word *)((const char *)tables[table].words +
						    i * tables[table].stride_bytes);
	}
	return NULL;
}

void ledger_put_next(struct text *text, const char *next, const char *command)
{
	const char *generic = *command ? strstr(next, LEDGER_FEWER_PROCESSES) : NULL;

	if (!generic) {
		text_put_string(text, next);
		return;
	}
	text_put(text, next, (size_t)(generic - next));
	text_put_string(text, begins_with(command, RUN_OF_PROCESSES)
				      ? "choose fewer processes"
				      : "record a part of the command (-d)");
	text_put_string(text, generic + strlen(LEDGER_FEWER_PROCESSES));
}

/* As strcasecmp() == 0. An N of the words is also a number in the text. */
static bool are_words(const char *words, const char *text)
{
	for (; *words && *text; words++, text++) {
		size_t digits = *words == 'N' ? strspn(text, "0123456789") : 0;

		if (digits)
			text += digits - 1;
		else if (tolower((unsigned char)*words) != tolower((unsigned char)*text))
			return false;
	}
	return !*words && !*text;
}

static bool is_exactly(const struct ledger_word *term, const char *path, const char *text)
{
	for (const char *at = path; at; at = strchr(at, '.')) {
		at += *at == '.';
		if (!strcasecmp(at, text))
			return true;
	}
	return are_words(term->words + strspn(term->words, " "), text);
}

bool ledger_term_is(const struct ledger_word *term, const char *group, const char *text)
{
	static const char *const marks[] = {"", "JIT: ", "JIT "}; /* of the summary */
	size_t count = strcmp(group, "jit.") != 0 ? 1 : ARRAY_SIZE(marks);
	char path[96];

	snprintf(path, sizeof(path), "%s%s", group, term->key);
	text += strspn(text, " ");
	for (size_t i = 0; i < count; i++) {
		if (begins_with(text, marks[i]) && is_exactly(term, path, text + strlen(marks[i])))
			return true;
	}
	return false;
}

bool ledger_term_has(const struct ledger_word *term, const char *group, const char *text)
{
	char path[96];

	snprintf(path, sizeof(path), "%s%s", group, term->key);
	text += strspn(text, " ");
	return *text && (strcasestr(path, text) || strcasestr(term->words, text));
}
