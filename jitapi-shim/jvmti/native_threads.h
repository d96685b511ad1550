/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the kernel's tid of a running Java thread other than the calling one. JVMTI does not report
 * it.
 *
 * HotSpot exports a table of its structures for tools (gHotSpotVMStructs). With this table, the
 * field eetop of java.lang.Thread leads to the tid. Memory is read by a system call, so no address
 * can crash the JVM. eetop becomes 0 when the thread ends. So eetop is read again after the tid,
 * and a tid is valid only if eetop has not changed. The table is trusted if it gives the right tid
 * for the calling thread.
 */
#ifndef JITBPF_SHIM_JVMTI_NATIVE_THREADS_H
#define JITBPF_SHIM_JVMTI_NATIVE_THREADS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

struct native_threads {
	JNIEnv *jni; /* borrowed */
	jfieldID eetop;
	uint64_t osthread_offset; /* in JavaThread */
	uint64_t tid_offset;	  /* in OSThread */
};

/* Returns false if this JVM's threads cannot be read. The caller is a thread of the JVM. */
bool native_threads_init(struct native_threads *threads, jvmtiEnv *jvmti, JNIEnv *jni);

/* Returns the tid of a thread in the process's PID namespace; 0: not known, or it has ended. */
uint32_t native_threads_tid(const struct native_threads *threads, jthread thread);

#endif
