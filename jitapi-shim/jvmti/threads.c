/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/jvmti/threads.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jitapi-shim/jvmti/native_threads.h"
#include "jitapi-shim/jvmti/thread_name.h"
#include "jitapi-shim/send.h"

#define ENDED_MAX 1024

/*
 * The threads that end while threads_report_running() runs. The name of such a thread may be
 * reported after its end, so the end is reported again. There is no lock, since a thread that ends
 * must not wait.
 */
static struct {
	_Atomic uint32_t phase; /* odd while it runs */
	_Atomic uint32_t count; /* may exceed ENDED_MAX */
	_Atomic uint32_t tids[ENDED_MAX];
} ended;

/*
 * Note the end of a thread. Returns false if threads_report_running() has ended, and may have
 * missed it.
 */
static bool note_end(uint32_t tid)
{
	uint32_t place = atomic_fetch_add(&ended.count, 1);

	if (place < ENDED_MAX)
		atomic_store(&ended.tids[place], tid);
	return atomic_load(&ended.phase) & 1;
}

static void send_name(uint32_t tid, const char *name)
{
	char text[JITBPF_THREAD_NAME_MAX + 1];
	struct record record;

	thread_name(name, text, sizeof(text));
	send_begin(&record, JIT_EVENT_JVM_THREAD, NULL);
	record.header.tid = (uint32_t)syscall(SYS_gettid);
	record.header.method_id = tid;
	record_add_string(&record, JITBPF_JIT_NAME, text);
	send_record(&record);
}

static void send_end(uint32_t tid)
{
	struct record record;

	send_begin(&record, JIT_EVENT_JVM_THREAD_END, NULL);
	record.header.tid = (uint32_t)syscall(SYS_gettid);
	record.header.method_id = tid;
	send_record(&record);
}

/* Send the name of a thread, if the JVM gives it. */
static void report(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, uint32_t tid)
{
	jvmtiThreadInfo info = {0};

	if ((*jvmti)->GetThreadInfo(jvmti, thread, &info))
		return;
	if (info.name)
		send_name(tid, info.name);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)info.name);
	if (info.thread_group)
		(*jni)->DeleteLocalRef(jni, info.thread_group);
	if (info.context_class_loader)
		(*jni)->DeleteLocalRef(jni, info.context_class_loader);
}

void JNICALL threads_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	int saved_errno = errno;

	if (send_wanted())
		report(jvmti, jni, thread, (uint32_t)syscall(SYS_gettid));
	errno = saved_errno;
}

void JNICALL threads_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	uint32_t phase = atomic_load(&ended.phase), tid = (uint32_t)syscall(SYS_gettid);
	int saved_errno = errno;

	if (!send_wanted())
		return;
	send_end(tid);
	if ((phase & 1 || atomic_load(&ended.phase) != phase) && !note_end(tid))
		send_end(tid);
	errno = saved_errno;
}

/*
 * Report the ends again. If there were too many to note, report the ends of all threads that were
 * named.
 */
static void report_ended(const uint32_t *tids, jint count)
{
	uint32_t noted = atomic_load(&ended.count);

	for (uint32_t i = 0; i < noted && noted <= ENDED_MAX; i++) {
		uint32_t tid = atomic_load(&ended.tids[i]);

		if (tid)
			send_end(tid);
	}
	for (jint i = 0; i < count && noted > ENDED_MAX; i++) {
		if (tids[i])
			send_end(tids[i]);
	}
}

void threads_report_running(jvmtiEnv *jvmti, JNIEnv *jni)
{
	struct native_threads native;
	jthread *threads = NULL;
	uint32_t *tids = NULL;
	jint count = 0;

	if (!send_wanted() || !native_threads_init(&native, jvmti, jni))
		return;
	atomic_fetch_add(&ended.phase, 1);
	if (!(*jvmti)->GetAllThreads(jvmti, &count, &threads))
		tids = calloc((size_t)count + 1, sizeof(*tids));
	for (jint i = 0; i < count; i++) {
		if (tids)
			tids[i] = native_threads_tid(&native, threads[i]);
		if (tids && tids[i])
			report(jvmti, jni, threads[i], tids[i]);
		(*jni)->DeleteLocalRef(jni, threads[i]);
	}
	atomic_fetch_add(&ended.phase, 1);
	if (tids)
		report_ended(tids, count);
	free(tids);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)threads);
}
