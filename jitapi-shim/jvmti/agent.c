/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The agent that a Java virtual machine loads: -agentpath:libjitbpf-jvmti.so[=signatures]. It
 * reports compiled methods with their scopes, the JVM's own generated code, and the names of
 * threads, in the records of the shim.
 *
 * The JVM calls it on its own threads, several at a time. An error never ends the JVM: the agent
 * prints a message, and reports nothing.
 */
#include <errno.h>
#include <jvmti.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "jitapi-shim/journal.h"
#include "jitapi-shim/jvmti/compiled_method.h"
#include "jitapi-shim/jvmti/threads.h"
#include "jitapi-shim/send.h"
#include "uapi/jit_journal.h"
#include "uapi/jvm_agent.h"

const char send_journal_name[] = JITBPF_JOURNAL_JVM_NAME;

/* Memory in which a load is built. */
struct workspace {
	struct methods methods;
	struct scopes scopes;
	struct buffer room;
};

static struct {
	_Atomic bool loaded;
	JavaVM *vm;
	bool signatures;
	bool map_is_bytecode;
	_Atomic bool workspace_taken; /* by a thread that reports a load */
	struct workspace workspace;
} agent;

/* Each load has its own ID: the code of a method that is compiled again is another region. */
static uint32_t next_id(void)
{
	static _Atomic uint32_t last;
	uint32_t id;

	while (!(id = atomic_fetch_add(&last, 1) + 1))
		;
	return id;
}

static void begin_load(struct record *record, const void *address, jint size_bytes)
{
	send_begin(record, JIT_EVENT_JVM_LOAD, NULL);
	record->header.method_id = next_id();
	record->header.address = (uintptr_t)address;
	record->header.code_bytes = (uint32_t)size_bytes;
}

static void workspace_init(struct workspace *work, bool keep_names)
{
	methods_init(&work->methods, keep_names, agent.signatures);
	scopes_init(&work->scopes);
	work->room = (struct buffer){0};
}

static void workspace_deinit(struct workspace *work)
{
	methods_deinit(&work->methods);
	scopes_deinit(&work->scopes);
	buffer_deinit(&work->room);
}

static void send_compiled(const struct compiled_method *compiled, struct workspace *work)
{
	struct record record;
	struct method *method;
	uint32_t table_bytes = 0;
	const void *table;
	bool complete;

	begin_load(&record, (const void *)compiled->address, (jint)compiled->size_bytes);
	complete = compiled_method_scopes(compiled, &work->methods, &work->scopes);
	table = scopes_table(&work->scopes, RECORD_SCOPES_MAX, &work->room, &table_bytes);
	if (!complete || work->scopes.no_memory)
		record.header.flags |= JITBPF_JIT_TRUNCATED;
	method = methods_get(&work->methods, compiled->id);
	if (method) {
		record_add_string(&record, JITBPF_JIT_NAME, method->name);
		record_add_string(&record, JITBPF_JIT_SOURCE, method->source);
	}
	if (table)
		record_add_scopes(&record, table, table_bytes);
	send_record(&record);
}

/* If another thread uses the agent's workspace, this load uses a temporary one. */
static void send_in_workspace(const struct compiled_method *compiled, jvmtiEnv *jvmti, JNIEnv *jni)
{
	bool is_own = atomic_exchange(&agent.workspace_taken, true);
	struct workspace own, *work = is_own ? &own : &agent.workspace;

	if (is_own)
		workspace_init(work, false);
	methods_begin_load(&work->methods, jvmti, jni);
	send_compiled(compiled, work);
	methods_end_load(&work->methods);
	if (is_own) {
		workspace_deinit(work);
		return;
	}
	scopes_reset(&work->scopes);
	buffer_reset(&work->room);
	atomic_store(&agent.workspace_taken, false);
}

static void JNICALL compiled_method_load(jvmtiEnv *jvmti, jmethodID id, jint code_size,
					 const void *code_addr, jint map_length,
					 const jvmtiAddrLocationMap *map, const void *compile_info)
{
	struct compiled_method compiled = {
		.id = id,
		.address = (uintptr_t)code_addr,
		.size_bytes = (uint32_t)code_size,
		.map = map,
		.map_count = map_length,
		.map_is_bytecode = agent.map_is_bytecode,
		.compile_info = compile_info,
	};
	int saved_errno = errno;
	JNIEnv *jni;

	if (!send_wanted() || code_size <= 0 ||
	    (*agent.vm)->GetEnv(agent.vm, (void **)&jni, JNI_VERSION_1_6))
		return;
	send_in_workspace(&compiled, jvmti, jni);
	errno = saved_errno;
}

/* The method ID may be invalid: only the address is used. */
static void JNICALL compiled_method_unload(jvmtiEnv *jvmti, jmethodID id, const void *code_addr)
{
	int saved_errno = errno;
	struct record record;

	if (!send_wanted())
		return;
	send_begin(&record, JIT_EVENT_JVM_UNLOAD, NULL);
	record.header.address = (uintptr_t)code_addr;
	record.header.code_bytes = 1;
	send_record(&record);
	errno = saved_errno;
}

/*
 * The JVM may call this before it can run Java code, so this function calls no function of the JVM.
 */
static void JNICALL dynamic_code_generated(jvmtiEnv *jvmti, const char *name, const void *address,
					   jint length)
{
	int saved_errno = errno;
	struct record record;

	if (!send_wanted() || length <= 0)
		return;
	begin_load(&record, address, length);
	record_add_string(&record, JITBPF_JIT_NAME, name);
	send_record(&record);
	errno = saved_errno;
}

/* Report the threads that the JVM created before ThreadStart events were possible. */
static void JNICALL vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	int saved_errno = errno;

	threads_report_running(jvmti, jni);
	errno = saved_errno;
}

/* Returns true for an agent other than this one: another copy of the library. */
static int is_other_agent(struct dl_phdr_info *library, size_t size, void *own_)
{
	const char *file = strrchr(library->dlpi_name, '/');
	uintptr_t own = (uintptr_t)own_;

	if (!file || strncmp(file, "/libjitbpf-jvmti", strlen("/libjitbpf-jvmti")))
		return 0;
	for (int i = 0; i < library->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &library->dlpi_phdr[i];
		uintptr_t start = library->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && own - start < segment->p_memsz)
			return 0;
	}
	return 1;
}

/* Two agents would report each method twice. The JVM loads one at a time. */
static bool is_loaded(void)
{
	return atomic_exchange(&agent.loaded, true) || dl_iterate_phdr(is_other_agent, &agent);
}

static void say(const char *what)
{
	fprintf(stderr, "jitbpf: compiled Java code is not reported: %s\n", what);
}

static void read_options(const char *options)
{
	if (!options || !*options)
		return;
	agent.signatures = !strcmp(options, "signatures");
	if (!agent.signatures)
		fprintf(stderr,
			"jitbpf: the agent ignores its unknown option '%s'; it has only 'signatures'\n",
			options);
}

/*
 * HotSpot never gives a method ID to another method: a redefined method keeps its own, and the ID
 * of an unloaded one stays invalid. JVMTI does not promise that.
 */
static bool ids_are_unique(jvmtiEnv *jvmti)
{
	char *name = NULL;
	bool unique;

	if ((*jvmti)->GetSystemProperty(jvmti, "java.vm.name", &name))
		return false;
	unique = strstr(name, "HotSpot") || strstr(name, "OpenJDK");
	(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
	return unique;
}

/* Enable the events. Returns NULL, or the reason why the JVM does not send them. */
static const char *enable(jvmtiEnv *jvmti)
{
	static const jvmtiEvent events[] = {
		JVMTI_EVENT_COMPILED_METHOD_LOAD,
		JVMTI_EVENT_COMPILED_METHOD_UNLOAD,
		JVMTI_EVENT_DYNAMIC_CODE_GENERATED,
		JVMTI_EVENT_THREAD_START,
		JVMTI_EVENT_THREAD_END,
		JVMTI_EVENT_VM_INIT,
	};
	const jvmtiEventCallbacks callbacks = {
		.CompiledMethodLoad = compiled_method_load,
		.CompiledMethodUnload = compiled_method_unload,
		.DynamicCodeGenerated = dynamic_code_generated,
		.ThreadStart = threads_start,
		.ThreadEnd = threads_end,
		.VMInit = vm_init,
	};
	const jvmtiCapabilities details = {
		.can_get_source_file_name = 1,
		.can_get_line_numbers = 1,
	};
	const jvmtiCapabilities loads = {.can_generate_compiled_method_load_events = 1};
	jvmtiJlocationFormat format;

	if ((*jvmti)->AddCapabilities(jvmti, &loads))
		return "this JVM has no such events";
	(*jvmti)->AddCapabilities(jvmti, &details); /* without them, lines or files are missing */
	agent.map_is_bytecode =
		!(*jvmti)->GetJLocationFormat(jvmti, &format) && format == JVMTI_JLOCATION_JVMBCI;
	workspace_init(&agent.workspace, ids_are_unique(jvmti));
	if ((*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof(callbacks)))
		return "the JVM takes no callbacks";
	journal_prepare();
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		if ((*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL))
			return "the JVM does not enable the events";
	}
	return NULL;
}

static const char *begin(JavaVM *vm, const char *options, jvmtiEnv **ret)
{
	const char *trouble;
	jvmtiEnv *jvmti;

	agent.vm = vm;
	read_options(options);
	if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2))
		return "this JVM has no tool interface (JVMTI 1.2)";
	trouble = enable(jvmti);
	if (trouble) {
		(*jvmti)->DisposeEnvironment(jvmti);
		return trouble;
	}
	*ret = jvmti;
	return NULL;
}

/*
 * Returns NULL on success, with *ret set to NULL if an agent is loaded already; else the reason why
 * nothing is reported. After a failure, the library stays in the JVM, and the agent can be loaded
 * again.
 */
static const char *load(JavaVM *vm, const char *options, jvmtiEnv **ret)
{
	const char *trouble;

	*ret = NULL;
	if (is_loaded())
		return NULL;
	trouble = begin(vm, options, ret);
	if (trouble)
		atomic_store(&agent.loaded, false);
	return trouble;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	jvmtiEnv *jvmti;
	const char *trouble = load(vm, options, &jvmti);

	if (trouble)
		say(trouble);
	return JNI_OK;
}

/*
 * A starting JVM accepts attach commands shortly before agents may use its tool interface. Until
 * then, HotSpot's GetEnv() returns JNI_EDETACHED.
 */
static bool is_live(JavaVM *vm)
{
	jvmtiEnv *jvmti;
	jvmtiPhase phase;
	jint err = (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2);
	bool live = err != JNI_EDETACHED;

	if (err)
		return live;
	if (!(*jvmti)->GetPhase(jvmti, &phase))
		live = phase == JVMTI_PHASE_LIVE;
	(*jvmti)->DisposeEnvironment(jvmti);
	return live;
}

/*
 * The JVM already runs: report its threads, and request events for its live code. Prints nothing:
 * the process that loads the agent reports a failure.
 */
JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	jvmtiEnv *jvmti;
	JNIEnv *jni;

	if (!is_live(vm))
		return JITBPF_JVM_AGENT_TOO_EARLY;
	if (load(vm, options, &jvmti))
		return JITBPF_JVM_AGENT_LACKS_EVENTS;
	if (!jvmti)
		return JITBPF_JVM_AGENT_IS_LOADED;
	if (!(*vm)->GetEnv(vm, (void **)&jni, JNI_VERSION_1_6))
		threads_report_running(jvmti, jni);
	(*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
	(*jvmti)->GenerateEvents(jvmti, JVMTI_EVENT_COMPILED_METHOD_LOAD);
	return JNI_OK;
}
