/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arrays of plain values that several stages pass on. The owner calls vec_deinit(). */
#ifndef JITBPF_BASE_LISTS_H
#define JITBPF_BASE_LISTS_H

#include <stdint.h>

#include "base/vec.h"

typedef VEC(const char *) string_list; /* the strings are borrowed */
typedef VEC(uint32_t) pid_list;

#endif
