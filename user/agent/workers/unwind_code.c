/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/workers/unwind_code.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/clock.h"
#include "base/scope.h"

static int make_rows(const struct unwind_request *region, const uint8_t *code, size_t bytes,
		     const struct code_entry *entry, struct unwind_rows *ret)
{
	int err = code_unwind(code, bytes, region->address, entry, ret);

	if (!err && bytes < region->size_bytes)
		err = unwind_rows_add(ret, (uint32_t)bytes, UNWIND_CFA_COMMAND(UNWIND_UNKNOWN),
				      UNWIND_RBP_KEPT);
	return err;
}

int unwind_code_make(const struct memory_source *memory, const struct unwind_request *region,
		     const struct code_entry *entry, struct unwind_rows *ret, uint64_t *ret_read_ns)
{
	size_t wanted = region->size_bytes < CODE_UNWIND_BYTES_MAX ? region->size_bytes
								   : CODE_UNWIND_BYTES_MAX;
	AUTO_FREE uint8_t *code = NULL;
	size_t bytes;
	int err;

	*ret_read_ns = 0;
	if (region->copy)
		return make_rows(region, region->copy, region->copy_bytes, entry, ret);
	if (!wanted)
		return -EINVAL;
	code = malloc(wanted);
	if (!code)
		return -ENOMEM;
	err = memory->read(memory->context, region->pid, region->address, code, wanted, &bytes);
	*ret_read_ns = clock_now_ns();
	return err ?: make_rows(region, code, bytes, entry, ret);
}
