/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/jvmti/methods.h"

#include <stdlib.h>
#include <string.h>

#include "jitapi-shim/jvmti/java_name.h"

void methods_init(struct methods *methods, jvmtiEnv *jvmti, JNIEnv *jni, bool signatures)
{
	*methods = (struct methods){
		.jvmti = jvmti,
		.jni = jni,
		.signatures = signatures,
		.methods = {.item_bytes = sizeof(struct method), .key_bytes = sizeof(jmethodID)},
	};
}

/* Free memory that the JVM has allocated. NULL is allowed. */
static void free_jvm(struct methods *methods, void *memory)
{
	if (memory)
		(*methods->jvmti)->Deallocate(methods->jvmti, memory);
}

void methods_deinit(struct methods *methods)
{
	for (uint32_t i = 0; i < buffer_items_count(&methods->methods); i++) {
		struct method *method = buffer_items_get(&methods->methods, i);

		free(method->name);
		free_jvm(methods, method->source);
		free_jvm(methods, method->lines);
	}
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

static void look_up(struct methods *methods, struct method *method)
{
	jvmtiEnv *jvmti = methods->jvmti;
	char *descriptor = NULL;
	jclass class;

	if ((*jvmti)->GetMethodDeclaringClass(jvmti, method->id, &class))
		return;
	if (!(*jvmti)->GetClassSignature(jvmti, class, &descriptor, NULL))
		method->name = name_of(methods, method->id, descriptor);
	free_jvm(methods, descriptor);
	if ((*jvmti)->GetSourceFileName(jvmti, class, &method->source))
		method->source = NULL;
	if ((*jvmti)->GetLineNumberTable(jvmti, method->id, &method->line_count, &method->lines)) {
		method->lines = NULL;
		method->line_count = 0;
	}
	(*methods->jni)->DeleteLocalRef(methods->jni, class);
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

/* The line of the greatest start that is not above the index; the JVM may sort in any order. */
uint32_t method_line(const struct method *method, jlocation bytecode)
{
	const jvmtiLineNumberEntry *best = NULL;

	for (jint i = 0; i < method->line_count; i++) {
		const jvmtiLineNumberEntry *entry = &method->lines[i];

		if (entry->start_location <= bytecode &&
		    (!best || entry->start_location >= best->start_location))
			best = entry;
	}
	return best && best->line_number > 0 ? (uint32_t)best->line_number : 0;
}
