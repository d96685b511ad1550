/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of Java methods as Java programmers write them, from the JVM's descriptors. */
#ifndef JITBPF_SHIM_JVMTI_JAVA_NAME_H
#define JITBPF_SHIM_JVMTI_JAVA_NAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Write "pkg.Class.method" to name, NUL-terminated; with a method descriptor, its parameter types
 * follow: "pkg.Class.method(int, java.lang.String[])". class_descriptor is "Lpkg/Class;". A hidden
 * class, "Lpkg/Class.0x12;", is "pkg.Class/0x12". Any of the strings may be malformed: malformed
 * parts are copied as they are. A name that does not fit is cut.
 */
void java_name(const char *class_descriptor, const char *method, const char *method_descriptor,
	       char *name, size_t size_bytes);

/*
 * Returns true for a method by which method handles call their targets. The JVM gives all such
 * methods one ID, and returns the name of one of them.
 */
bool java_is_linker(const char *class_descriptor, const char *method);

#endif
