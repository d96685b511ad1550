/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Facts about the builtins of V8: functions that it compiles when it is built, in the text of its
 * program or library. The symbol tables name them; there is no call frame information. Constant
 * data and pure functions only.
 */
#ifndef JITBPF_ENGINES_V8_BUILTINS_H
#define JITBPF_ENGINES_V8_BUILTINS_H

enum v8_builtin {
	V8_NO_BUILTIN,
	/*
	 * Most are called, or jumped to instead of a call. A few continue in the frame of other
	 * code, such as those that end or replace the frame of a function.
	 */
	V8_BUILTIN,
	/*
	 * The caller's return address is on the stack. So it is in handlers of bytecodes: the
	 * interpreter calls the first one, and they jump to each other.
	 */
	V8_CALLED_BUILTIN,
};

/* Returns what a function is by its name in a symbol table. */
enum v8_builtin v8_builtin_of(const char *name);

#endif
