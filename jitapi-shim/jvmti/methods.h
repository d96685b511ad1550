/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The methods of one load: names, source files, line tables. Each method is looked up once per
 * load. Lines are freed at the end of the load, since a redefined class has other lines for the
 * same method IDs.
 *
 * Names and source files may be kept for later loads, since they are half of the cost of a load.
 * This is safe only in a VM that never reuses a method ID for another method.
 */
#ifndef JITBPF_SHIM_JVMTI_METHODS_H
#define JITBPF_SHIM_JVMTI_METHODS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "jitapi-shim/jvmti/buffer.h"

#define METHOD_NAME_BYTES 4096

#define METHODS_KEPT_MAX 4096 /* names */

/* For one load at a time. */
struct methods {
	jvmtiEnv *jvmti;
	JNIEnv *jni; /* of the calling thread */
	bool keep_names;
	bool signatures; /* names have parameter types */
	struct buffer_items methods;
	struct buffer_items names; /* struct method_name */
};

/* Strings are owned, or NULL; free() releases them. */
struct method_name {
	jmethodID id;
	char *name;   /* as java_name() writes it */
	char *source; /* file name */
};

struct method {
	jmethodID id;
	uint32_t scope_method;	     /* index in the scope table; UINT32_MAX: not added yet */
	const char *name, *source;   /* borrowed from struct method_name */
	jvmtiLineNumberEntry *lines; /* allocated by the JVM */
	jint line_count;
	bool lines_ascend; /* by start_location */
};

void methods_init(struct methods *methods, bool keep_names, bool signatures);
void methods_deinit(struct methods *methods);

void methods_begin_load(struct methods *methods, jvmtiEnv *jvmti, JNIEnv *jni);

/* Forget the methods. Their names are kept with keep_names, up to METHODS_KEPT_MAX. */
void methods_end_load(struct methods *methods);

/* Returns a method, valid until the next call; NULL: no memory. */
struct method *methods_get(struct methods *methods, jmethodID id);

/* Returns the line of a bytecode index, 0: not known. */
uint32_t method_line(const struct method *method, jlocation bytecode);

#endif
