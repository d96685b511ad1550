/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/symbol_service.h"

#include <errno.h>

int symbolizer_location(struct symbolizer *symbolizer, enum location_kind kind, uint64_t offset,
			const struct module *module, struct symbol_frame frames[SYMBOL_FRAMES_MAX],
			uint32_t *ret_count)
{
	switch (kind) {
	case LOCATION_KERNEL:
		return symbolizer_kernel(symbolizer, offset, frames, ret_count);
	case LOCATION_NATIVE:
		return symbolizer_native(symbolizer, module, offset, frames, ret_count);
	default:
		return -EINVAL;
	}
}

static int now_request(void *context, uint32_t location, const struct location *what,
		       const struct module *module)
{
	struct symbolize_now *now = context;
	struct symbol_request request = {
		.location = location,
		.kind = what->kind,
		.offset = what->offset,
		.module = module,
	};

	return vec_push(&now->requests, request);
}

static int now_collect(void *context, bool wait, symbol_taker_fn take, void *take_context)
{
	struct symbolize_now *now = context;
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	uint32_t count;
	int err;

	if (!wait)
		return 0;
	vec_for_each (request, &now->requests) {
		err = symbolizer_location(now->symbolizer, request->kind, request->offset,
					  request->module, frames, &count);
		if (!err)
			err = take(take_context, request->location, frames, count);
		if (err)
			return err;
	}
	now->requests.size = 0;
	return 0;
}

void symbolize_now_init(struct symbolize_now *now, struct symbolizer *symbolizer,
			struct symbol_service *ret_service)
{
	*now = (struct symbolize_now){.symbolizer = symbolizer};
	*ret_service = (struct symbol_service){
		.request = now_request,
		.collect = now_collect,
		.context = now,
	};
}

void symbolize_now_deinit(struct symbolize_now *now)
{
	vec_deinit(&now->requests);
}
