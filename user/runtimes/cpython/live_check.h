/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks a layout of CPython against the structures of a live process. */
#ifndef JITBPF_RUNTIMES_CPYTHON_LIVE_CHECK_H
#define JITBPF_RUNTIMES_CPYTHON_LIVE_CHECK_H

#include "runtimes/cpython/layout.h"
#include "uapi/runtime_recipe.h"

/*
 * Set in *recipe where a thread has its PyThreadState (base, base_kind, step_count, step), for the
 * C library of the process, and *code_type, if it is 0. Some thread must have the object where the
 * recipe says, belong to its interpreter, and have a frame whose function is a code object. The
 * layout of frames is in *recipe. Returns 0; -ENODATA: nothing contradicts the layout, but there is
 * no such thread, as before and behind the run of Python (*recipe is set if all that a thread lacks
 * is the frame); -EBADMSG: the structures are other ones; or an error of the memory.
 */
int cpython_live_check(const struct process_memory *memory, uint64_t runtime,
		       const struct cpython_layout *layout, struct runtime_recipe *recipe,
		       uint64_t *code_type);

#endif
