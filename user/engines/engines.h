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
#include "uapi/code_event.h"

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

#define ENGINE_VERSION_PARTS	3
#define ENGINE_VERSION_PART_MAX 4095

/* A version such as 3.11, as far as it is known. */
struct engine_version {
	uint16_t part[ENGINE_VERSION_PARTS];
	uint16_t parts; /* 0: not known */
};

/* The advice for code of a process that runs no engine with an advice of its own. */
#define ENGINE_ADVICE_OTHERS                                                                       \
	"many engines publish their code if they are started with the variables or options of "    \
	"'jitbpf env'"

/* Each function may be NULL. */
struct engine {
	const char *name;

	/*
	 * For an engine that is a runtime: a process runs it if it has mapped this file, the
	 * runtime's program or library. `file` is a file name without its folder. version() returns
	 * what the path says about the version; NULL: nothing. runtime_name is set if it differs
	 * from the name of the engine.
	 */
	const char *runtime_name;
	bool (*is_runtime)(const char *file);
	struct engine_version (*version)(const char *path);

	/*
	 * For a runtime: returns true for a library that switches native stacks within a thread,
	 * together with the runtime's frames, but not at the same instant.
	 */
	bool (*switches_stacks)(const char *file);

	/*
	 * For a runtime whose JIT code is entered by a jump from its interpreter, and runs in the
	 * stack frame of the interpreter's function, a symbol of the runtime's file. The plug-in is
	 * a library that publishes the code, if it is not the runtime's file itself.
	 */
	const char *entry_symbol;
	bool (*is_plugin)(const char *file);

	/*
	 * For an engine with an agent that is a publisher of its own: returns how code of a name,
	 * reported by that publisher, uses frames.
	 */
	enum engine_frames (*frames)(const char *name);
	enum jitbpf_publisher publisher; /* only if frames is set */

	/*
	 * For a runtime: returns advice to the user, if its process does not publish its code.
	 * command: the command line that jitbpf has run, with the variables of the settings; "":
	 * the process was started in another way. NULL: the code is not the runtime's own.
	 */
	const char *(*advice)(const char *command, const struct engine_version *version);
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
	 * It can be ENGINE_FUNCTION_ROOM bytes longer.
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

extern const struct engine engine_cpython, engine_dotnet, engine_erlang, engine_guile, engine_java,
	engine_jitapi, engine_julia, engine_llvm, engine_luajit, engine_mono, engine_numba,
	engine_opencl, engine_perl, engine_php, engine_pypy, engine_ruby, engine_spidermonkey,
	engine_v8;

/* Returns the engine with a name, or NULL. */
const struct engine *engine_by_name(const char *name);

/* Returns the engine at an index of the table; NULL after the last one. */
const struct engine *engine_at(size_t index);

/* What a file is to an engine, as far as its path says. */
struct engine_file {
	const struct engine *engine; /* NULL: nothing that is known */
	bool is_plugin;		     /* else: it is the program or library of the runtime */
	bool is_library;	     /* the runtime's library */
	bool switches_stacks;	     /* see struct engine; `engine` is NULL */
	struct engine_version version;
};

/*
 * Returns what the file at `path` is. A final " (deleted)", as the kernel writes it, is no part of
 * the path. The path decides alone: a file of another content deceives only its own process.
 */
struct engine_file engine_file_of(const char *path);

/*
 * A runtime, its version, and whether its functions are shown, in a number below 2^53, or 0: for
 * tables that are copied and sent. Numbers have a meaning within one build of the program only. The
 * index of the engine is number % ENGINE_NUMBERS - 1.
 */
#define ENGINE_NUMBERS 256
uint64_t engine_runtime_number(const struct engine_file *file);
struct engine_file engine_of_runtime_number(uint64_t number);

/*
 * Set an enum jitbpf_runtime_status in a number, or get it. It is ENGINE_NO_STATUS if nothing was
 * reported.
 */
#define ENGINE_NO_STATUS    UINT32_MAX
#define ENGINE_STATUSES_MAX 62 /* higher ones are this one */
uint64_t engine_runtime_with_status(uint64_t number, uint32_t status);
uint32_t engine_runtime_status(uint64_t number);

/* Returns the name by which users know the runtime of an engine. */
const char *engine_runtime_name(const struct engine *engine);

/* Put the text of a version into a buffer; "" if it is not known. */
#define ENGINE_VERSION_BYTES 24
void engine_version_text(const struct engine_version *version, char ret[ENGINE_VERSION_BYTES]);

/*
 * A number that identifies an engine in recordings, by its name: that of found code. NULL: there is
 * no engine with the number.
 */
uint32_t engine_code_number(const struct engine *engine);
const struct engine *engine_of_code_number(uint32_t number);

/* Returns the engine whose agent is that publisher, or NULL. */
const struct engine *engine_of_publisher(enum jitbpf_publisher publisher);

/* Returns the engine that writes jitdump files with that reserved field, or NULL. */
const struct engine *engine_of_jitdump(uint32_t reserved);

/* Returns name_prefix_bytes() of the first engine that finds a prefix; 0 if none does. */
size_t engine_name_prefix_bytes(const char *name);

/* Calls respell() of all engines. */
void engine_respell(char *name, bool had_prefix);

#define ENGINE_FUNCTION_ROOM                                                                       \
	16 /* bytes that the name of a function can be longer than of its code */

/* Calls to_function() of the engines, for the name of JIT code, up to the first that knows it. */
enum code_tier engine_to_function(char *name);

/* Calls unnumber() of all engines, for the name of a function of JIT code. */
void engine_unnumber(char *name);

#endif
