/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Display names of JIT methods. */
#ifndef JITBPF_SYMBOLIZE_NAME_METHOD_NAME_H
#define JITBPF_SYMBOLIZE_NAME_METHOD_NAME_H

#include <stdbool.h>

#define METHOD_NAME_PART_MAX 16384 /* bytes that are read of a class or a name */

/*
 * Set *ret to "Class::method", or to `name` alone without a class; "" if the
 * engine reported no name. Mangled names are demangled if readable is true. A part beyond
 * METHOD_NAME_PART_MAX is cut, and not demangled. The caller frees *ret. Returns 0 or -ENOMEM.
 */
int method_name(const char *class_name, const char *name, bool readable, char **ret);

#endif
