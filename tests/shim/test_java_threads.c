/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the agent for Java reports of threads, in its journal. The JVM is a table of answers. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <jvmti.h>

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jitapi-shim/journal.h"
#include "jitapi-shim/jvmti/native_threads.h"
#include "jitapi-shim/jvmti/thread_name.h"
#include "jitapi-shim/jvmti/threads.h"
#include "jitapi-shim/send.h"
#include "tests/shim/journal_copy.h"
#include "tests/shim/shim_fixture.h"

const char send_journal_name[] = JITBPF_JOURNAL_NAME; /* journal_copy_own() looks for it */

/* --- a JVM whose threads are their names, with a table of its structures --------------------- */

/* As HotSpot's java.lang.Thread, JavaThread and OSThread. */
struct os_thread {
	uint64_t other;
	int32_t tid;
};

struct java_thread {
	uint64_t other[3];
	struct os_thread *os;
};

struct thread {
	struct java_thread *eetop;
	const char *name;
	int readings_left; /* of eetop, until the thread has ended; negative: it never ends */
};

static int refs, given; /* what the agent has to give back */
static struct thread *all[8], *current;
static jint thread_count;

struct vm_entry {
	const char *type, *field, *type_string;
	int32_t is_static;
	uint64_t offset;
	void *address;
};

#define EXPORTED __attribute__((visibility("default"), used))

static struct vm_entry structures[] = {
	{.type = "OSThread", .field = "_other", .offset = 0},
	{.type = "JavaThread", .field = "_osthread", .offset = offsetof(struct java_thread, os)},
	{.type = "OSThread", .field = "_thread_id", .offset = offsetof(struct os_thread, tid)},
	{0},
};

EXPORTED struct vm_entry *gHotSpotVMStructs = structures;
EXPORTED uint64_t gHotSpotVMStructEntryArrayStride = sizeof(struct vm_entry);
EXPORTED uint64_t gHotSpotVMStructEntryTypeNameOffset = offsetof(struct vm_entry, type);
EXPORTED uint64_t gHotSpotVMStructEntryFieldNameOffset = offsetof(struct vm_entry, field);
EXPORTED uint64_t gHotSpotVMStructEntryOffsetOffset = offsetof(struct vm_entry, offset);

static jvmtiError JNICALL thread_info(jvmtiEnv *env, jthread thread, jvmtiThreadInfo *ret)
{
	const char *name = ((struct thread *)thread)->name;

	if (!name)
		return JVMTI_ERROR_INVALID_THREAD;
	refs += 2;
	given++;
	*ret = (jvmtiThreadInfo){
		.name = strdup(name),
		.thread_group = (jthreadGroup)&refs,
		.context_class_loader = (jobject)&refs,
	};
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *memory)
{
	given -= memory != NULL;
	free(memory);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL current_thread(jvmtiEnv *env, jthread *ret)
{
	refs++;
	*ret = (jthread)current;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL all_threads(jvmtiEnv *env, jint *ret_count, jthread **ret)
{
	*ret = calloc(8, sizeof(**ret));
	memcpy(*ret, all, sizeof(all));
	*ret_count = thread_count;
	refs += thread_count;
	given++;
	return JVMTI_ERROR_NONE;
}

static void JNICALL delete_ref(JNIEnv *env, jobject object)
{
	refs--;
}

static jclass JNICALL find_class(JNIEnv *env, const char *name)
{
	refs++;
	return (jclass)&refs;
}

static jfieldID JNICALL field_id(JNIEnv *env, jclass class, const char *name, const char *type)
{
	return (jfieldID)&refs;
}

static jlong JNICALL long_field(JNIEnv *env, jobject object, jfieldID field)
{
	struct thread *thread = (struct thread *)object;

	if (!thread->readings_left)
		return 0;
	thread->readings_left -= thread->readings_left > 0;
	return (jlong)(uintptr_t)thread->eetop;
}

static const struct jvmtiInterface_1_ jvmti_functions = {
	.GetThreadInfo = thread_info,
	.Deallocate = deallocate,
	.GetCurrentThread = current_thread,
	.GetAllThreads = all_threads,
};

static const struct JNINativeInterface_ jni_functions = {
	.DeleteLocalRef = delete_ref,
	.FindClass = find_class,
	.GetFieldID = field_id,
	.GetLongField = long_field,
};

static jvmtiEnv jvmti = &jvmti_functions;
static JNIEnv jni = &jni_functions;

/* --- tests ------------------------------------------------------------------------------------ */

static uint32_t own_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static void in_child(void (*child)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		journal_prepare();
		child();
		MUST(refs == 0 && given == 0);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* name NULL: the thread has ended. */
static bool is_entry(const struct journal_copy *copy, uint32_t entry, uint32_t tid,
		     const char *name)
{
	const struct jitbpf_jit_header *header = &copy->entries[entry].header;
	const size_t head_bytes = sizeof(struct jitbpf_jit_field);
	size_t bytes;
	const uint8_t *fields = journal_fields(copy, entry, &bytes);

	if (header->method_id != tid || header->tid != own_tid() || header->address)
		return false;
	if (!name)
		return header->event == JIT_EVENT_JVM_THREAD_END;
	return header->event == JIT_EVENT_JVM_THREAD && bytes >= head_bytes + strlen(name) &&
	       !memcmp(fields + head_bytes, name, strlen(name));
}

static void child_start_and_end(void)
{
	struct thread thread = {.name = "request-handler-alpha-1"}, gone = {0};
	struct journal_copy copy;

	threads_start(&jvmti, &jni, (jthread)&thread);
	threads_start(&jvmti, &jni, (jthread)&gone);
	threads_end(&jvmti, &jni, (jthread)&thread);
	MUST(journal_copy_own(&copy));
	MUST(copy.count == 2);
	MUST(is_entry(&copy, 0, own_tid(), "request-handler-alpha-1"));
	MUST(is_entry(&copy, 1, own_tid(), NULL));
	journal_copy_free(&copy);
}

static void test_start_and_end(void **state)
{
	in_child(child_start_and_end);
}

/*
 * Of the running threads, one has ended before it is looked at, one while it is, and one has
 * memory that cannot be read.
 */
static void child_running(void)
{
	struct os_thread os[] = {{0, (int32_t)own_tid()}, {0, 501}, {0, 502}, {0, 503}, {0, 0}};
	struct java_thread java[] = {{.os = &os[0]}, {.os = &os[1]}, {.os = &os[2]},
				     {.os = &os[3]}, {.os = &os[4]}, {.os = (void *)8}};
	struct thread threads[] = {
		{&java[0], "main", -1},	  {&java[1], "a-thread-with-a-long-name", -1},
		{&java[2], "ended", 0},	  {&java[3], "ends", 1},
		{&java[4], "no tid", -1}, {&java[5], "wild", -1},
		{(void *)16, "wild", -1},
	};
	struct journal_copy copy;

	thread_count = sizeof(threads) / sizeof(threads[0]);
	for (jint i = 0; i < thread_count; i++)
		all[i] = &threads[i];
	current = &threads[0];
	threads_report_running(&jvmti, &jni);
	MUST(journal_copy_own(&copy));
	MUST(copy.count == 2);
	MUST(is_entry(&copy, 0, own_tid(), "main"));
	MUST(is_entry(&copy, 1, 501, "a-thread-with-a-long-name"));
	journal_copy_free(&copy);
}

static void test_running(void **state)
{
	in_child(child_running);
}

/* If the table leads to another tid than the calling thread's, no thread is reported. */
static void child_wrong_table(void)
{
	struct os_thread os = {0, (int32_t)own_tid() + 1};
	struct java_thread java = {.os = &os};
	struct thread thread = {&java, "main", -1};
	struct native_threads native;

	all[0] = current = &thread;
	thread_count = 1;
	MUST(!native_threads_init(&native, &jvmti, &jni));
	threads_report_running(&jvmti, &jni);
	MUST(journal_own()->next_sequence == 0);
	os.tid--;
	MUST(native_threads_init(&native, &jvmti, &jni));
	structures[1].field = "_another";
	MUST(!native_threads_init(&native, &jvmti, &jni));
	structures[1].field = "_osthread";
	gHotSpotVMStructs = NULL;
	MUST(!native_threads_init(&native, &jvmti, &jni));
}

static void test_wrong_table(void **state)
{
	in_child(child_wrong_table);
}

static void assert_name(const char *modified, size_t room, const char *want)
{
	char name[64];

	memset(name, '#', sizeof(name));
	thread_name(modified, name, room);
	assert_string_equal(name, want);
	assert_int_equal(name[room], '#');
}

static void test_names(void **state)
{
	assert_name("", 1, "");
	assert_name("abc", 1, "");
	assert_name("abc", 3, "ab");
	assert_name("sm\xc3\xb6r", 4, "sm");
	assert_name("sm\xc3\xb6r", 5, "sm\xc3\xb6");
	/* U+1F600, as Java writes it */
	assert_name("x\xed\xa0\xbd\xed\xb8\x80y", 16, "x\xf0\x9f\x98\x80y");
	assert_name("x\xed\xa0\xbd\xed\xb8\x80y", 5, "x");
	/* A surrogate alone, and bytes that are no UTF-8 */
	assert_name("\xed\xa0\xbdz", 16, "\xed\xa0\xbdz");
	assert_name("\xed\xb8\x80", 16, "\xed\xb8\x80");
	assert_name("\xed\xa0\xbd\xed", 16, "\xed\xa0\xbd\xed");
	assert_name("\x80\x80\x80\xff", 16, "\x80\x80\x80\xff");
	assert_name("\xed", 16, "\xed");
	assert_name("\xc0\x80", 16, "\xc0\x80");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_start_and_end),
		cmocka_unit_test(test_running),
		cmocka_unit_test(test_wrong_table),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests_name("shim: Java threads", tests, NULL, NULL);
}
