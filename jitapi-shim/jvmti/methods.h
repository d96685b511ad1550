/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The methods of one load: names, source files, line tables. Each method is looked up once per
 * load. Its data is freed at the end of the callback: a method ID is invalid, or refers to another
 * method, once its class is unloaded or redefined.
 */
#ifndef JITBPF_SHIM_JVMTI_METHODS_H
#define JITBPF_SHIM_JVMTI_METHODS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "jitapi-shim/jvmti/buffer.h"

#define METHOD_NAME_BYTES 4096

struct methods {
	jvmtiEnv *jvmti;
	JNIEnv *jni;	 /* of the calling thread */
	bool signatures; /* names have parameter types */
	struct buffer_items methods;
};

/* methods_deinit() frees strings and lines. The JVM has allocated source and lines. */
struct method {
	jmethodID id;
	uint32_t scope_method; /* index in the scope table; UINT32_MAX: not there yet */
	char *name;	       /* as java_name() writes it, or NULL */
	char *source;	       /* file name, or NULL */
	jvmtiLineNumberEntry *lines;
	jint line_count;
};

void methods_init(struct methods *methods, jvmtiEnv *jvmti, JNIEnv *jni, bool signatures);
void methods_deinit(struct methods *methods);

/* Returns a method, valid until the next call; NULL: no memory. */
struct method *methods_get(struct methods *methods, jmethodID id);

/* Returns the line of a bytecode index, 0: not known. */
uint32_t method_line(const struct method *method, jlocation bytecode);

#endif
