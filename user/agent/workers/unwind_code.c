/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/workers/unwind_code.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/clock.h"
#include "base/scope.h"
#include "decode/x86/code_unwind.h"

int unwind_code_make(const struct memory_source *memory, const struct unwind_maker *maker,
		     const struct unwind_request *region, struct unwind_rows *ret,
		     uint64_t *ret_read_ns)
{
	size_t wanted = region->size_bytes < CODE_UNWIND_BYTES_MAX ? region->size_bytes
								   : CODE_UNWIND_BYTES_MAX;
	AUTO_FREE uint8_t *bytes = NULL;
	struct unwind_code code = {
		.bytes = region->copy,
		.bytes_read = region->copy_bytes,
		.address = region->address,
		.size_bytes = region->size_bytes,
		.host = region->host,
	};
	int err;

	*ret_read_ns = 0;
	if (region->copy)
		return maker->code(maker->context, &code, ret);
	if (!wanted)
		return -EINVAL;
	code.bytes = bytes = malloc(wanted);
	if (!bytes)
		return -ENOMEM;
	err = memory->read(memory->context, region->pid, region->address, bytes, wanted,
			   &code.bytes_read);
	*ret_read_ns = clock_now_ns();
	return err ?: maker->code(maker->context, &code, ret);
}
