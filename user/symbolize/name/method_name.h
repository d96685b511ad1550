/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a JIT method is called, from what its engine said. */
#ifndef JITBPF_SYMBOLIZE_NAME_METHOD_NAME_H
#define JITBPF_SYMBOLIZE_NAME_METHOD_NAME_H

#include <stdbool.h>

/*
 * "Class::method", with `readable` demangled where the engine gave a mangled name;
 * "" where it gave none. Sets *ret, to be freed. Returns 0 or -ENOMEM.
 */
int method_name(const char *class_name, const char *name, bool readable, char **ret);

#endif
