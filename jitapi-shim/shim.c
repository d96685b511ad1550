/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The collector library that JIT engines load. It appends each event to the journal and,
 * if a profiler is attached, passes it to the probe.
 *
 * The library makes system calls when it is loaded, and none later, since the program may have
 * entered a sandbox by then. docs/recording.md lists them.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "jitapi-shim/caller_engine.h"
#include "jitapi-shim/journal.h"
#include "jitapi-shim/payload.h"
#include "jitapi-shim/record.h"
#include "jitapi-shim/send.h"
#include "uapi/jit_journal.h"

const char send_journal_name[] = JITBPF_JOURNAL_NAME;

#define EXPORT		__attribute__((visibility("default")))
#define SAMPLING_ON	1 /* with any other answer, some engines report nothing */
#define FIRST_METHOD_ID 1000
#define PAGE_BYTES	4096

EXPORT unsigned int Initialize(void);
EXPORT unsigned int NotifyEvent(unsigned int event, const void *data);
EXPORT int iJIT_NotifyEvent(unsigned int event, const void *data);
EXPORT unsigned int iJIT_IsProfilingActive(void);
EXPORT unsigned int iJIT_GetNewMethodID(void);

/*
 * Copies size_bytes, of which only the first 4 are known to be readable. Bytes on the same page as
 * these are readable, and so are bytes above this frame: the stack's outermost frame is larger than
 * a payload. The kernel could tell of other bytes, but a sandbox may forbid to ask.
 */
static bool read_behind(const void *from, void *to, size_t size_bytes)
{
	uintptr_t above = (uintptr_t)from - (uintptr_t)__builtin_frame_address(0);

	if (((uintptr_t)from & (PAGE_BYTES - 1)) + size_bytes > PAGE_BYTES && above >= PAGE_BYTES)
		return false;
	memcpy(to, from, size_bytes);
	return true;
}

/*
 * Many engines pass a pointer to a bare ID, with garbage or an unmapped page behind it. Engines
 * that pass ID 0 pass a whole struct jitapi_load, and unload its address range. A record without
 * the range is flagged; the code then keeps its name until it is overwritten, or found to be
 * other code.
 */
static void describe_unload(struct record *record, const uint32_t *id)
{
	uint8_t prefix[offsetof(struct jitapi_method, line_count)];
	uint32_t size_bytes;

	record->header.method_id = *id;
	if (*id)
		return;
	if (!read_behind(id, prefix, sizeof(prefix))) {
		record->header.flags |= JITBPF_JIT_TRUNCATED;
		return;
	}
	memcpy(&record->header.address, prefix + offsetof(struct jitapi_method, address),
	       sizeof(record->header.address));
	memcpy(&size_bytes, prefix + offsetof(struct jitapi_method, size_bytes),
	       sizeof(size_bytes));
	record->header.code_bytes = size_bytes;
}

static void describe_method(struct record *record, const struct jitapi_method *method,
			    const char *class_name, const char *source, const char *module)
{
	record->header.method_id = method->id;
	record->header.address = method->address;
	record->header.code_bytes = method->size_bytes;
	record_add_string(record, JITBPF_JIT_NAME, method->name);
	record_add_string(record, JITBPF_JIT_CLASS, class_name);
	record_add_string(record, JITBPF_JIT_SOURCE, source);
	record_add_string(record, JITBPF_JIT_MODULE, module);
	record_add_lines(record, method->lines, method->line_count);
}

static void describe_load(struct record *record, unsigned int event, const void *data)
{
	const struct jitapi_load *load = data;
	const struct jitapi_inline_load *inlined = data;
	const struct jitapi_load_v2 *v2 = data;
	const struct jitapi_load_v3 *v3 = data;

	switch (event) {
	case JIT_EVENT_LOAD:
		describe_method(record, &load->method, load->class_name, load->source, NULL);
		break;
	case JIT_EVENT_INLINE_LOAD:
		record->header.parent_id = inlined->method.parent_id;
		describe_method(record, &inlined->method, inlined->class_name, inlined->source,
				NULL);
		break;
	case JIT_EVENT_LOAD_V2:
		describe_method(record, &v2->method, v2->class_name, v2->source, v2->module);
		break;
	case JIT_EVENT_LOAD_V3:
		describe_method(record, &v3->v2.method, v3->v2.class_name, v3->v2.source,
				v3->v2.module);
		record_add_number(record, JITBPF_JIT_ARCH, &v3->arch);
		break;
	}
}

static void describe_update(struct record *record, const struct jitapi_method *method)
{
	record->header.method_id = method->id;
	record->header.address = method->address;
	record->header.code_bytes = method->size_bytes;
}

static void describe_segment(struct record *record, const struct jitapi_update *update)
{
	record->header.address = update->address;
	record->header.code_bytes = update->size_bytes;
	record_add_number(record, JITBPF_JIT_SEGMENT, &update->type);
	record_add_string(record, JITBPF_JIT_FORMAT, update->format);
}

static void describe_nids(struct record *record, const struct jitapi_nids *nids)
{
	record->header.method_id = nids->id;
	record_add_string(record, JITBPF_JIT_NAME, nids->name);
}

/* Other events are sent as a bare header, so that the profiler can count them. */
static void describe(struct record *record, unsigned int event, const void *data)
{
	if (!data)
		return;
	switch (event) {
	case JIT_EVENT_LOAD:
	case JIT_EVENT_INLINE_LOAD:
	case JIT_EVENT_LOAD_V2:
	case JIT_EVENT_LOAD_V3:
		describe_load(record, event, data);
		break;
	case JIT_EVENT_UNLOAD:
		describe_unload(record, data);
		break;
	case JIT_EVENT_UPDATE:
		describe_update(record, data);
		break;
	case JIT_EVENT_UPDATE_V2:
		describe_segment(record, data);
		break;
	case JIT_EVENT_ENTER_NIDS:
	case JIT_EVENT_LEAVE_NIDS:
		describe_nids(record, data);
		break;
	}
}

static __attribute__((noinline)) void notify(unsigned int event, const void *data,
					     const void *caller)
{
	struct record record;

	/* An unknown number must not be truncated to that of another event. */
	send_begin(&record, event < JIT_EVENT_JVM_LOAD ? (uint16_t)event : JIT_EVENT_UNKNOWN,
		   caller);
	describe(&record, event, data);
	send_record(&record);
}

__attribute__((constructor)) static void prepare(void)
{
	int saved_errno = errno;

	journal_prepare();
	caller_engines_find_files();
	errno = saved_errno;
}

unsigned int Initialize(void)
{
	caller_engines_find_file((uintptr_t)__builtin_return_address(0));
	return SAMPLING_ON;
}

unsigned int NotifyEvent(unsigned int event, const void *data)
{
	if (send_wanted())
		notify(event, data, __builtin_return_address(0));
	return 1;
}

int iJIT_NotifyEvent(unsigned int event, const void *data)
{
	if (send_wanted())
		notify(event, data, __builtin_return_address(0));
	return 1;
}

unsigned int iJIT_IsProfilingActive(void)
{
	return SAMPLING_ON;
}

unsigned int iJIT_GetNewMethodID(void)
{
	static _Atomic uint32_t next_id = FIRST_METHOD_ID;

	return atomic_fetch_add(&next_id, 1);
}
