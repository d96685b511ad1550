/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/jvmti/native_threads.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define ENTRIES_MAX 100000 /* of the table; it has about 2,000 */

/* The table of structures, and where its entries have their members. */
struct structures {
	const char *first;
	uint64_t stride, type_at, field_at, offset_at;
};

/*
 * Returns a handle for dlclose(), or NULL. libjvm.so may not be in the global scope; a JVM may also
 * be a part of the program.
 */
static void *open_jvm(jvmtiEnv *jvmti)
{
	const void *function;
	void *jvm = NULL;
	Dl_info info;

	memcpy(&function, &(*jvmti)->GetThreadInfo, sizeof(function));
	if (dladdr(function, &info) && info.dli_fname)
		jvm = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	return jvm ?: dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
}

static bool get_number(void *jvm, const char *name, uint64_t *ret)
{
	const uint64_t *number = dlsym(jvm, name);

	if (!number)
		return false;
	*ret = *number;
	return true;
}

static bool find_structures(void *jvm, struct structures *ret)
{
	const char *const *first = dlsym(jvm, "gHotSpotVMStructs");

	if (!first || !*first)
		return false;
	ret->first = *first;
	return get_number(jvm, "gHotSpotVMStructEntryArrayStride", &ret->stride) &&
	       get_number(jvm, "gHotSpotVMStructEntryTypeNameOffset", &ret->type_at) &&
	       get_number(jvm, "gHotSpotVMStructEntryFieldNameOffset", &ret->field_at) &&
	       get_number(jvm, "gHotSpotVMStructEntryOffsetOffset", &ret->offset_at);
}

static const char *string_at(const char *entry, uint64_t offset)
{
	const char *string;

	memcpy(&string, entry + offset, sizeof(string));
	return string;
}

/* Find the offset of a field of a type; of one with another name if `other` is not NULL. */
static bool find_field(const struct structures *structures, const char *type, const char *other,
		       const char *field, uint64_t *ret)
{
	const char *entry = structures->first, *name;

	for (uint32_t i = 0; i < ENTRIES_MAX; i++, entry += structures->stride) {
		name = string_at(entry, structures->type_at);
		if (!name)
			return false;
		if (strcmp(name, type) && (!other || strcmp(name, other)))
			continue;
		name = string_at(entry, structures->field_at);
		if (!name || strcmp(name, field))
			continue;
		memcpy(ret, entry + structures->offset_at, sizeof(*ret));
		return true;
	}
	return false;
}

static bool read_memory(uint64_t address, void *to, size_t size_bytes)
{
	struct iovec local = {to, size_bytes}, remote = {(void *)(uintptr_t)address, size_bytes};

	return process_vm_readv((pid_t)syscall(SYS_getpid), &local, 1, &remote, 1, 0) ==
	       (ssize_t)size_bytes;
}

uint32_t native_threads_tid(const struct native_threads *threads, jthread thread)
{
	JNIEnv *jni = threads->jni;
	uint64_t java = (uint64_t)(*jni)->GetLongField(jni, thread, threads->eetop), native;
	int32_t tid;

	if (!java || !read_memory(java + threads->osthread_offset, &native, sizeof(native)) ||
	    !native || !read_memory(native + threads->tid_offset, &tid, sizeof(tid)) || tid <= 0)
		return 0;
	return (uint64_t)(*jni)->GetLongField(jni, thread, threads->eetop) == java ? (uint32_t)tid
										   : 0;
}

static jfieldID find_eetop(JNIEnv *jni)
{
	jclass class = (*jni)->FindClass(jni, "java/lang/Thread");
	jfieldID field = class ? (*jni)->GetFieldID(jni, class, "eetop", "J") : NULL;

	if (!field)
		(*jni)->ExceptionClear(jni);
	if (class)
		(*jni)->DeleteLocalRef(jni, class);
	return field;
}

/* Returns true if the calling thread's tid is found. */
static bool is_right(const struct native_threads *threads, jvmtiEnv *jvmti)
{
	JNIEnv *jni = threads->jni;
	jthread self = NULL;
	bool right;

	if ((*jvmti)->GetCurrentThread(jvmti, &self) || !self)
		return false;
	right = native_threads_tid(threads, self) == (uint32_t)syscall(SYS_gettid);
	(*jni)->DeleteLocalRef(jni, self);
	return right;
}

bool native_threads_init(struct native_threads *threads, jvmtiEnv *jvmti, JNIEnv *jni)
{
	struct native_threads found = {.jni = jni, .eetop = find_eetop(jni)};
	void *jvm = found.eetop ? open_jvm(jvmti) : NULL;
	struct structures structures;
	bool known;

	if (!jvm)
		return false;
	known = find_structures(jvm, &structures) &&
		find_field(&structures, "JavaThread", "Thread", "_osthread",
			   &found.osthread_offset) &&
		find_field(&structures, "OSThread", NULL, "_thread_id", &found.tid_offset);
	dlclose(jvm);
	if (!known || !is_right(&found, jvmti))
		return false;
	*threads = found;
	return true;
}
