/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/workers/unwind_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/clock.h"
#include "agent/workers/unwind_runtime.h"
#include "base/scope.h"
#include "decode/x86/call_site.h"
#include "runtimes/code_compare.h"
#include "decode/x86/code_unwind.h"

#define CODE_PAGE_BYTES 4096

/* Read the beginning of a region, with time for the reading. */
static int read_code(const struct memory_source *memory, struct unwind_answer *answer, size_t limit)
{
	const struct unwind_code_request *region = &answer->request.code;
	size_t wanted = region->size_bytes < limit ? region->size_bytes : limit, bytes_read = 0;
	AUTO_FREE uint8_t *bytes = wanted ? malloc(wanted) : NULL;
	int err = wanted ? -ENOMEM : -EINVAL;

	if (bytes)
		err = memory->read(memory->context, answer->request.pid, answer->request.owner,
				   region->address, bytes, wanted, &bytes_read);
	if (err)
		return err;
	answer->bytes = TAKE_PTR(bytes);
	answer->bytes_read = bytes_read;
	return 0;
}

int unwind_code_make(const struct memory_source *memory, const struct unwind_maker *maker,
		     struct unwind_answer *answer)
{
	const struct unwind_code_request *region = &answer->request.code;
	struct unwind_code code = {
		.bytes = region->copy,
		.bytes_read = region->copy_bytes,
		.address = region->address,
		.size_bytes = region->size_bytes,
		.host = region->host,
	};
	int err = 0;

	if (!region->copy) {
		err = read_code(memory, answer, CODE_UNWIND_BYTES_MAX);
		answer->read_ns = clock_now_ns();
		code.bytes = answer->bytes;
		code.bytes_read = answer->bytes_read;
	}
	return err ?: maker->code(maker->context, &code, &answer->rows);
}

/* Compare the beginnings of two copies of a region. */
static int compare(const struct unwind_maker *maker, const struct unwind_code_request *region,
		   const uint8_t *is, size_t size_bytes, bool *ret_differs)
{
	const struct code_pair pair = {region->copy, is, size_bytes, region->check.objects_move};
	bool same = true;
	int err = 0;

	if (memcmp(pair.was, is, size_bytes))
		err = maker->compare(maker->context, &pair, &same);
	*ret_differs = !same;
	return err;
}

int unwind_code_check(const struct memory_source *memory, const struct unwind_maker *maker,
		      struct unwind_answer *answer)
{
	const struct unwind_code_request *region = &answer->request.code;
	int err;

	if (region->check.is)
		return region->copy_bytes > CODE_COMPARE_BYTES_MAX
			       ? -EINVAL
			       : compare(maker, region, region->check.is, region->copy_bytes,
					 &answer->differs);
	answer->read_ns = clock_now_ns();
	if (region->check.identity)
		return unwind_runtime_check(memory, answer);
	err = read_code(memory, answer, UNWIND_CODE_CHECK_BYTES);
	if (err || !region->copy)
		return err;
	if (answer->bytes_read < region->copy_bytes &&
	    answer->bytes_read < UNWIND_CODE_CHECK_BYTES) {
		answer->differs = true;
		return 0;
	}
	return compare(maker, region, answer->bytes,
		       region->copy_bytes < answer->bytes_read ? region->copy_bytes
							       : answer->bytes_read,
		       &answer->differs);
}

int unwind_code_return(const struct memory_source *memory, struct unwind_answer *answer)
{
	const struct unwind_request *request = &answer->request;
	uint64_t to = request->return_site.to, in_page = to % CODE_PAGE_BYTES;
	/* The page before may be unreadable. */
	size_t before = in_page && in_page < CODE_RETURN_BYTES ? in_page : CODE_RETURN_BYTES,
	       got = 0;
	uint8_t code[2 * CODE_RETURN_BYTES];
	int err = memory->read(memory->context, request->pid, request->owner, to - before, code,
			       before + CODE_RETURN_BYTES, &got);

	if (!err && got < before)
		err = -EFAULT;
	if (!err)
		answer->can_return = code_can_return(code, got, before, to);
	return err;
}
