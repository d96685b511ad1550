/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Puts the functions that native frames hold behind these frames (struct runtime_native_frames).
 * Pure code.
 */
#ifndef JITBPF_UNWIND_RUNTIMES_NATIVE_MERGE_H
#define JITBPF_UNWIND_RUNTIMES_NATIVE_MERGE_H

#include "unwind/runtimes/runtime_merge.h"

/*
 * Merge. Runtime frames belong to the native frames in ranges of the recipe, in order. A native
 * frame with a function gets the kind INTERPRETER, and the function is placed behind it, as
 * runtime_merge() does. So does its callee in a loop of the recipe, if the function is interpreted.
 * A frame beyond the kernel's walk, since rows were not made, has the runtime frame with its frame
 * pointer (bpf/runtime_search.h). One without a function stays as it is. Such a frame makes the
 * result cut, unless it is a leaf that has made no frame yet, or known to hold none. A native frame
 * of compiled code that a publisher has described stays as well, without the function: it says the
 * same, and more of the code.
 */
void runtime_merge_native(const struct native_stack *native, const struct runtime_stack *runtime,
			  struct merged_stack *ret);

#endif
