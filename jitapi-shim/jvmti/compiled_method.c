/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/jvmti/compiled_method.h"

#include <jvmticmlr.h>

#define RECORDS_MAX 16 /* of one chain */

/* Adds one scope of a method. Returns it, or JITBPF_NO_SCOPE. */
static uint32_t add_scope(struct methods *methods, struct scopes *scopes, uint32_t caller,
			  jmethodID id, jlocation bytecode)
{
	struct method *method = methods_get(methods, id);

	if (!method)
		return JITBPF_NO_SCOPE;
	if (method->scope_method == UINT32_MAX)
		method->scope_method = scopes_add_method(scopes, method->name, method->source);
	return scopes_add(scopes, caller, method->scope_method, (int32_t)bytecode,
			  bytecode < 0 ? 0 : method_line(method, bytecode));
}

/* The previous place, and its scopes, outermost first: the next place shares most of them. */
struct last_chain {
	const PCStackInfo *place;
	uint32_t depth; /* scopes that are set */
	uint32_t scopes[JITBPF_SCOPE_DEPTH_MAX];
};

/* Returns the number of outermost scopes that a place shares with the previous place. */
static uint32_t shared_depth(const struct last_chain *last, const PCStackInfo *place)
{
	uint32_t shared = 0;

	while (shared < last->depth && (jint)shared < place->numstackframes) {
		jint own = place->numstackframes - 1 - (jint)shared;
		jint other = last->place->numstackframes - 1 - (jint)shared;

		if (place->methods[own] != last->place->methods[other] ||
		    place->bcis[own] != last->place->bcis[other])
			break;
		shared++;
	}
	return shared;
}

/* Adds the chain of one place, whose first method is the innermost one. */
static uint32_t add_chain(struct methods *methods, struct scopes *scopes, struct last_chain *last,
			  const PCStackInfo *place)
{
	uint32_t depth = shared_depth(last, place);
	uint32_t scope = depth ? last->scopes[depth - 1] : JITBPF_NO_SCOPE;

	for (jint i = place->numstackframes - (jint)depth; i-- > 0;) {
		scope = add_scope(methods, scopes, scope, place->methods[i], place->bcis[i]);
		if (scope == JITBPF_NO_SCOPE)
			break;
		last->scopes[depth++] = scope;
	}
	last->place = place;
	last->depth = depth;
	return scope;
}

static const jvmtiCompiledMethodLoadInlineRecord *find_inline_record(const void *compile_info)
{
	const jvmtiCompiledMethodLoadRecordHeader *header = compile_info;

	for (int i = 0; header && i < RECORDS_MAX; i++, header = header->next) {
		const jvmtiCompiledMethodLoadInlineRecord *record = (const void *)header;

		if (header->kind == JVMTI_CMLR_INLINE_INFO &&
		    header->majorinfoversion == JVMTI_CMLR_MAJOR_VERSION_1 && record->numpcs > 0)
			return record;
	}
	return NULL;
}

/* Returns true if a program counter is inside the code, or just behind it. */
static bool is_inside(const struct compiled_method *compiled, uint64_t pc)
{
	return pc >= compiled->address && pc - compiled->address <= compiled->size_bytes;
}

/* If a program counter is left out, its range is added to the range of the next one. */
static bool add_inline_record(const struct compiled_method *compiled,
			      const jvmtiCompiledMethodLoadInlineRecord *record,
			      struct methods *methods, struct scopes *scopes)
{
	struct last_chain last = {.depth = 0};
	uint64_t next = 0; /* begin of the next range */
	bool complete = true;

	for (jint i = 0; i < record->numpcs; i++) {
		const PCStackInfo *place = &record->pcinfo[i];
		uint64_t pc = (uintptr_t)place->pc;
		uint32_t scope;

		if (!is_inside(compiled, pc) || pc - compiled->address < next) {
			complete = false;
			continue;
		}
		scope = add_chain(methods, scopes, &last, place);
		complete &= scope != JITBPF_NO_SCOPE;
		complete &= scopes_add_range(scopes, next, scope);
		next = pc - compiled->address + 1;
	}
	if (next < compiled->size_bytes)
		complete &= scopes_add_range(scopes, next, JITBPF_NO_SCOPE);
	return complete;
}

static bool add_address_map(const struct compiled_method *compiled, struct methods *methods,
			    struct scopes *scopes)
{
	bool complete = true;

	for (jint i = 0; i < compiled->map_count; i++) {
		uint64_t pc = (uintptr_t)compiled->map[i].start_address;
		uint32_t scope;

		if (!is_inside(compiled, pc)) {
			complete = false;
			continue;
		}
		scope = add_scope(methods, scopes, JITBPF_NO_SCOPE, compiled->id,
				  compiled->map[i].location);
		complete &= scope != JITBPF_NO_SCOPE &&
			    scopes_add_range(scopes, pc - compiled->address, scope);
	}
	return complete;
}

bool compiled_method_scopes(const struct compiled_method *compiled, struct methods *methods,
			    struct scopes *scopes)
{
	const jvmtiCompiledMethodLoadInlineRecord *record =
		find_inline_record(compiled->compile_info);

	if (record)
		return add_inline_record(compiled, record, methods, scopes);
	return !compiled->map || !compiled->map_is_bytecode ||
	       add_address_map(compiled, methods, scopes);
}
