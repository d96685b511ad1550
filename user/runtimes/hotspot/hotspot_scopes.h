/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes the scope table of a compiled method from what HotSpot keeps to deoptimize it. */
#ifndef JITBPF_RUNTIMES_HOTSPOT_HOTSPOT_SCOPES_H
#define JITBPF_RUNTIMES_HOTSPOT_HOTSPOT_SCOPES_H

#include <stddef.h>

#include "runtimes/hotspot/hotspot_blob.h"

#define HOTSPOT_PCS_BYTES_MAX	   (1u << 20)
#define HOTSPOT_DATA_BYTES_MAX	   (4u << 20)
#define HOTSPOT_METADATA_BYTES_MAX (512u << 10)

/* Methods of one compiled method that are read; places in further ones are in no scope. */
#define HOTSPOT_SCOPE_METHODS_MAX 1024

/*
 * The agent for Java makes the same table of the same method (jitapi-shim/jvmti/compiled_method.h).
 * The outermost method of each place has to be the compiled one: so a layout that is not that of
 * the process makes no scopes. Returns 0; -ENODATA if there are no places; -EBADMSG; -E2BIG if the
 * tables are too large; or the error of the memory.
 */
int hotspot_scopes_make(const struct process_memory *memory, const struct hotspot_layout *layout,
			const struct hotspot_blob *blob, const struct hotspot_compiled *compiled,
			size_t bytes_max, void **ret, size_t *ret_bytes);

#endif
