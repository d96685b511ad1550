/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Knowledge about particular JIT engines: one file per engine, which fills a
 * struct engine. No other stage names an engine. Constant data and pure
 * functions only, so it is thread-safe.
 */
#ifndef JITBPF_ENGINES_ENGINES_H
#define JITBPF_ENGINES_ENGINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engines/code_tier.h"

/* How a setting combines with a value that the environment already has. */
enum engine_setting_rule {
	ENGINE_SETTING_REPLACES,
	ENGINE_SETTING_DEFAULT, /* the existing value stays */
	ENGINE_SETTING_APPENDS, /* after a colon, also to an empty value */
	ENGINE_SETTING_ADDS,	/* words, after a space */
};

enum engine_setting_kind {
	ENGINE_SETTING_TEXT,   /* the text itself */
	ENGINE_SETTING_SHIM,   /* the path of libjitbpf.so; text is NULL */
	ENGINE_SETTING_FOLDER, /* the directory of that name beside libjitbpf.so */
};

/*
 * An environment variable that makes an engine publish its code. Without --jit-debug, a setting
 * does not change the machine code that the engine generates. Settings that change the code are in
 * debug_text.
 */
struct engine_setting {
	const char *name;
	enum engine_setting_rule rule;
	enum engine_setting_kind kind;
	const char *text; /* by kind; NULL for ENGINE_SETTING_SHIM; NULL text: only --jit-debug */
	/* With --jit-debug: the text instead, which replaces an existing value; or NULL. */
	const char *debug_text;
	/* A variable that sets the engine's own default of this one; used instead of the text. */
	const char *follows;
	bool only_java_lines; /* only with --java-debug-nonsafepoints */
};

/* How a piece of code of a virtual machine uses stack frames. */
enum engine_frames {
	ENGINE_FRAMES_ANY, /* like a function */
	/*
	 * A method whose body has one frame. Code that no branch reaches is entered with that
	 * frame, from a signal handler.
	 */
	ENGINE_FRAMES_ONE,
	/* Entered by a jump, in the frame of its caller; the code pushes the return address. */
	ENGINE_FRAMES_PUSHED,
	/* An interpreter: the caller's rsp is in the word below the saved rbp. */
	ENGINE_FRAMES_INTERPRETER,
	/*
	 * The virtual machine has moved the callers of a frame from the stack to its heap, and
	 * replaced the frame's return address by the start of this code, which brings them back. No
	 * call instruction precedes that address.
	 */
	ENGINE_FRAMES_RETURNED_TO,
	/* The first function of a virtual thread. Its own caller is the scheduler. */
	ENGINE_FRAMES_FIRST,
};

#define ENGINE_OPTION_FOLDER "/PATH/OF"
#define ENGINE_PROCESSES_MAX 4 /* with the NULL */

/* The advice for code of a process whose name is that of no engine. */
#define ENGINE_ADVICE_OTHERS                                                                       \
	"many engines publish their code if they are started with the variables or options of "    \
	"'jitbpf env'"

/* Each function may be NULL. */
struct engine {
	const char *name;

	/*
	 * For an engine whose JIT code is entered by a jump from its interpreter, and runs in the
	 * stack frame of the interpreter's function. `file` is a file name without its folder.
	 * The host is the program or library with the interpreter. The plug-in is a library of
	 * the engine that publishes the code, if it is not the host itself.
	 */
	bool (*is_host)(const char *file);
	bool (*is_plugin)(const char *file);
	const char *entry_symbol; /* the interpreter's function, in the host */

	/* Returns how code of a name, reported by the engine's agent, uses frames. */
	enum engine_frames (*frames)(const char *name);

	/* Prefixes of the names (comm) of processes with the engine, ended by NULL. */
	const char *processes[ENGINE_PROCESSES_MAX];
	/*
	 * Returns advice to the user, if such a process does not publish its code. command: the
	 * command line that jitbpf has run, with the variables of the settings; "": the process was
	 * started in another way. Not NULL if `processes` has names.
	 */
	const char *(*advice)(const char *command);
	const char *without_code; /* why such a process may have no JIT code at all; or NULL */

	/* Length of the text that the engine prepends to a mangled name; 0 if there is none. */
	size_t (*name_prefix_bytes)(const char *name);
	/*
	 * Rewrite a demangled name in place, as users of this engine write it. A name belongs to
	 * this engine if it had the engine's prefix, or matches the engine's spelling. Other names
	 * are unchanged.
	 */
	void (*respell)(char *name, bool had_prefix);

	/*
	 * Change the name of this engine's code, in place, to the name of its function: without the
	 * marks of tiers, and without the numbers of code that the engine has made of one function.
	 * Returns the tier. Other names are unchanged, and PLAIN. Two different functions never get
	 * one name, but for code that the engine generates to call others: what it calls has a name
	 * of its own.
	 */
	enum code_tier (*to_function)(char *name);

	/*
	 * Remove from the name of a function, in place, the numbers by which the engine tells
	 * functions apart and which differ from run to run. The rest of the name does not identify
	 * the function in one run. For comparing recordings.
	 */
	void (*unnumber)(char *name);

	/*
	 * For an engine that writes its own kind of jitdump files (decode/media/jitdump.h). Either
	 * all of these members are set, or none. wrote_jitdump() returns true if the reserved field
	 * of a file's header is the engine's. jitdump_line_bias is subtracted from the addresses of
	 * lines, in bytes. has_jitdump_lines() returns true if the line table of code with a name
	 * has machine addresses. is_jitdump_source() returns true if a line's file name can be that
	 * of a source file.
	 */
	bool (*wrote_jitdump)(uint32_t reserved);
	uint32_t jitdump_line_bias;
	bool (*has_jitdump_lines)(const char *name);
	bool (*is_jitdump_source)(const char *file);

	const struct engine_setting *settings; /* setting_count of them */
	size_t setting_count;
	/*
	 * How to make an engine publish that has no setting for it: "which engine: option", with
	 * ENGINE_OPTION_FOLDER for the folder of libjitbpf.so; or NULL.
	 */
	const char *option;
};

extern const struct engine engine_java, engine_jitapi, engine_julia, engine_llvm, engine_numba,
	engine_opencl, engine_php, engine_spidermonkey, engine_v8;

/* Returns the engine at an index of the table; NULL after the last one. */
const struct engine *engine_at(size_t index);

/* Returns the engine whose host or plug-in is the file at `path`, or NULL. */
const struct engine *engine_of_host(const char *path);
const struct engine *engine_of_plugin(const char *path);

/* Returns frames() of the first engine with a result other than ENGINE_FRAMES_ANY. */
enum engine_frames engine_frames_of(const char *name);

/* Returns the engine of a process by its name (comm), or NULL. */
const struct engine *engine_of_process(const char *comm);

/* Returns the engine that writes jitdump files with that reserved field, or NULL. */
const struct engine *engine_of_jitdump(uint32_t reserved);

/* Returns name_prefix_bytes() of the first engine that finds a prefix; 0 if none does. */
size_t engine_name_prefix_bytes(const char *name);

/* Calls respell() of all engines. */
void engine_respell(char *name, bool had_prefix);

/* Calls to_function() of the engines, for the name of JIT code, up to the first that knows it. */
enum code_tier engine_to_function(char *name);

/* Calls unnumber() of all engines, for the name of a function of JIT code. */
void engine_unnumber(char *name);

#endif
