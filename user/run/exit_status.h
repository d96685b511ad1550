/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exit statuses of jitbpf, beside EXIT_SUCCESS and EXIT_FAILURE. */
#ifndef JITBPF_RUN_EXIT_STATUS_H
#define JITBPF_RUN_EXIT_STATUS_H

#define EXIT_USAGE	 2
#define EXIT_UNSUPPORTED 77 /* the machine or the user does not meet the requirements */

#endif
