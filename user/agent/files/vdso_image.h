/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The images of the vDSO, which have no file. All processes of a kernel share them. */
#ifndef JITBPF_AGENT_FILES_VDSO_IMAGE_H
#define JITBPF_AGENT_FILES_VDSO_IMAGE_H

#include "base/blob.h"

/* Name of the vDSO of 32-bit programs, as in perf; the kernel calls both "[vdso]". */
#define VDSO_NARROW_PATH "[vdso32]"

/* Open the image of 64-bit programs. Returns 0 or -ENOENT. */
int vdso_image_open(struct blob *ret);

/*
 * Open the image of 32-bit programs, from the kernel: a 32-bit process could have changed its own.
 * A child process maps it in the place of its vDSO, for which the kernel must have been built with
 * CONFIG_CHECKPOINT_RESTORE. Returns 0, -ENOENT, -ENOMEM or the errno of making the child.
 */
int vdso_image_open_narrow(struct blob *ret);

#endif
