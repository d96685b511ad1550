/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes the scopes of a compiled method from the arguments of CompiledMethodLoad.
 *
 * Ranges: a program counter of an inline record (HotSpot's PcDesc) ends its range, so it describes
 * previous < pc <= own. Such a pc is the address behind a call, or behind another instruction whose
 * state the JVM needs. An entry of the address map begins its range.
 */
#ifndef JITBPF_SHIM_JVMTI_COMPILED_METHOD_H
#define JITBPF_SHIM_JVMTI_COMPILED_METHOD_H

#include "jitapi-shim/jvmti/methods.h"
#include "jitapi-shim/jvmti/scopes.h"

/* The arguments of the callback, valid during the call only. */
struct compiled_method {
	jmethodID id;
	uint64_t address;
	uint32_t size_bytes;
	const jvmtiAddrLocationMap *map;
	jint map_count;
	bool map_is_bytecode;	  /* its locations are bytecode indexes */
	const void *compile_info; /* chain of jvmtiCompiledMethodLoadRecordHeader, or NULL */
};

/*
 * Add the scopes of the method: from the first inline record of a known version, else from the
 * address map. Returns false if something was left out: a program counter outside of the code or
 * out of order, a chain that is too deep, no memory.
 */
bool compiled_method_scopes(const struct compiled_method *compiled, struct methods *methods,
			    struct scopes *scopes);

#endif
