/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/jvmti/methods.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jitapi-shim/jvmti/java_name.h"

void methods_init(struct methods *methods, bool keep_names, bool signatures)
{
	*methods = (struct methods){
		.keep_names = keep_names,
		.signatures = signatures,
		.methods = {.item_bytes = sizeof(struct method), .key_bytes = sizeof(jmethodID)},
		.names = {.item_bytes = sizeof(struct method_name), .key_bytes = sizeof(jmethodID)},
	};
}

void methods_begin_load(struct methods *methods, jvmtiEnv *jvmti, JNIEnv *jni)
{
	methods->jvmti = jvmti;
	methods->jni = jni;
}

/* Free memory that the JVM has allocated. NULL is allowed. */
static void free_jvm(struct methods *methods, void *memory)
{
	if (memory)
		(*methods->jvmti)->Deallocate(methods->jvmti, memory);
}

static void free_name(struct method_name *name)
{
	free(name->name);
	free(name->source);
}

static void free_names(struct methods *methods)
{
	for (uint32_t i = 0; i < buffer_items_count(&methods->names); i++)
		free_name(buffer_items_get(&methods->names, i));
}

void methods_end_load(struct methods *methods)
{
	for (uint32_t i = 0; i < buffer_items_count(&methods->methods); i++) {
		struct method *method = buffer_items_get(&methods->methods, i);

		free_jvm(methods, method->lines);
	}
	buffer_items_reset(&methods->methods);
	if (methods->keep_names && buffer_items_count(&methods->names) <= METHODS_KEPT_MAX)
		return;
	free_names(methods);
	buffer_items_reset(&methods->names);
}

void methods_deinit(struct methods *methods)
{
	free_names(methods);
	buffer_items_deinit(&methods->names);
	buffer_items_deinit(&methods->methods);
}

/* Returns the name for free(), or NULL. */
static char *name_of(struct methods *methods, jmethodID id, const char *class_descriptor)
{
	char *method = NULL, *descriptor = NULL, name[METHOD_NAME_BYTES], *copy = NULL;

	if (!(*methods->jvmti)
		     ->GetMethodName(methods->jvmti, id, &method,
				     methods->signatures ? &descriptor : NULL, NULL)) {
		if (java_is_linker(class_descriptor, method))
			java_name(class_descriptor, "linker", NULL, name, sizeof(name));
		else
			java_name(class_descriptor, method, descriptor, name, sizeof(name));
		copy = strdup(name);
	}
	free_jvm(methods, method);
	free_jvm(methods, descriptor);
	return copy;
}

/*
 * Returns the path of a class's source file below the root of its source tree, where compilers
 * expect it: in the folders of its package. For free(), or NULL.
 */
static char *source_path(const char *class_descriptor, const char *source)
{
	const char *package = *class_descriptor == 'L' ? class_descriptor + 1 : "";
	const char *class = strrchr(package, '/');
	int bytes = class && !strchr(source, '/') ? (int)(class + 1 - package) : 0;
	char *path;

	return asprintf(&path, "%.*s%s", bytes, package, source) < 0 ? NULL : path;
}

static void look_up_name(struct methods *methods, struct method_name *name)
{
	jvmtiEnv *jvmti = methods->jvmti;
	char *descriptor = NULL, *source = NULL;
	jclass class;

	if ((*jvmti)->GetMethodDeclaringClass(jvmti, name->id, &class))
		return;
	if (!(*jvmti)->GetClassSignature(jvmti, class, &descriptor, NULL)) {
		name->name = name_of(methods, name->id, descriptor);
		if (!(*jvmti)->GetSourceFileName(jvmti, class, &source))
			name->source = source_path(descriptor, source);
	}
	free_jvm(methods, source);
	free_jvm(methods, descriptor);
	(*methods->jni)->DeleteLocalRef(methods->jni, class);
}

/* A name that was not found is not kept. */
static void set_name(struct methods *methods, struct method *method)
{
	struct method_name new = {.id = method->id}, *name;
	uint32_t number = buffer_items_find(&methods->names, &new);

	if (number == UINT32_MAX) {
		look_up_name(methods, &new);
		if (new.name)
			number = buffer_items_add(&methods->names, &new);
	}
	if (number == UINT32_MAX) {
		free_name(&new);
		return;
	}
	name = buffer_items_get(&methods->names, number);
	method->name = name->name;
	method->source = name->source;
}

static bool ascend(const jvmtiLineNumberEntry *lines, jint count)
{
	for (jint i = 1; i < count; i++) {
		if (lines[i].start_location < lines[i - 1].start_location)
			return false;
	}
	return true;
}

static void look_up(struct methods *methods, struct method *method)
{
	jvmtiEnv *jvmti = methods->jvmti;

	set_name(methods, method);
	if (method->name &&
	    (*jvmti)->GetLineNumberTable(jvmti, method->id, &method->line_count, &method->lines)) {
		method->lines = NULL;
		method->line_count = 0;
	}
	method->lines_ascend = ascend(method->lines, method->line_count);
}

struct method *methods_get(struct methods *methods, jmethodID id)
{
	struct method method = {.id = id, .scope_method = UINT32_MAX};
	uint32_t number = buffer_items_find(&methods->methods, &method);

	if (number == UINT32_MAX) {
		number = buffer_items_add(&methods->methods, &method);
		if (number == UINT32_MAX)
			return NULL;
		look_up(methods, buffer_items_get(&methods->methods, number));
	}
	return buffer_items_get(&methods->methods, number);
}

/*
 * Of the entries that start at or before the index, returns the last one with the greatest start;
 * or NULL.
 */
static const jvmtiLineNumberEntry *find_line(const struct method *method, jlocation bytecode)
{
	const jvmtiLineNumberEntry *best = NULL;

	for (jint i = 0; i < method->line_count; i++) {
		const jvmtiLineNumberEntry *entry = &method->lines[i];

		if (entry->start_location <= bytecode &&
		    (!best || entry->start_location >= best->start_location))
			best = entry;
	}
	return best;
}

/* As find_line(), by bisection. */
static const jvmtiLineNumberEntry *find_ascending_line(const struct method *method,
						       jlocation bytecode)
{
	jint first = 0, end = method->line_count;

	while (first < end) {
		jint middle = first + (end - first) / 2;

		if (method->lines[middle].start_location <= bytecode)
			first = middle + 1;
		else
			end = middle;
	}
	return first ? &method->lines[first - 1] : NULL;
}

/* The JVM may return the entries in any order. */
uint32_t method_line(const struct method *method, jlocation bytecode)
{
	const jvmtiLineNumberEntry *line = method->lines_ascend
						   ? find_ascending_line(method, bytecode)
						   : find_line(method, bytecode);

	return line && line->line_number > 0 ? (uint32_t)line->line_number : 0;
}
