/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reports the names of Java threads. The kernel keeps 15 bytes of a name, and HotSpot sets only
 * names that a thread gives itself. Virtual threads are not reported, but the carrier threads that
 * they run on are.
 *
 * Names are UTF-8 of at most JITBPF_THREAD_NAME_MAX bytes. Callers may be any thread of the JVM.
 */
#ifndef JITBPF_SHIM_JVMTI_THREADS_H
#define JITBPF_SHIM_JVMTI_THREADS_H

#include <jvmti.h>

/* Callbacks of ThreadStart and ThreadEnd, which run on the thread itself. */
void JNICALL threads_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread);
void JNICALL threads_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread);

/*
 * Report the threads that run already, while the callbacks are enabled. A thread whose tid is not
 * known for certain (native_threads.h) is not reported. Call it once, on a thread of the JVM in the
 * live phase.
 */
void threads_report_running(jvmtiEnv *jvmti, JNIEnv *jni);

#endif
