/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/symbol_service.h"

#include <errno.h>

#include "base/scope.h"
#include "base/sort_keys.h"

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

/* File by file, so that each is read once, however little of them can be kept. */
static int sort_requests(const struct symbolize_now *now, struct sort_key *keys)
{
	for (uint32_t i = 0; i < now->requests.size; i++) {
		const struct module *module = now->requests.data[i].module;

		keys[i] = (struct sort_key){.key = module ? module->number + 1ull : 0, .item = i};
	}
	return sort_keys(keys, now->requests.size);
}

static int now_collect(void *context, bool wait, symbol_taker_fn take, void *take_context)
{
	struct symbolize_now *now = context;
	const struct naming_progress *progress = &now->progress;
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	AUTO_FREE struct sort_key *keys = NULL;
	size_t all = wait ? now->requests.size : 0;
	uint32_t count;
	int err;

	if (!all)
		return 0;
	keys = calloc(all, sizeof(*keys));
	err = keys ? sort_requests(now, keys) : -ENOMEM;
	for (size_t i = 0; i < all && !err; i++) {
		const struct symbol_request *request = &now->requests.data[keys[i].item];
		const struct module *module = request->module;

		if (progress->show)
			progress->show(progress->context, i, all, module ? module->path : NULL);
		err = symbolizer_location(now->symbolizer, request->kind, request->offset, module,
					  frames, &count);
		err = err ?: take(take_context, request->location, frames, count);
	}
	if (!err)
		now->requests.size = 0;
	return err;
}

static struct symbolizer_counts now_counts(void *context)
{
	return symbolizer_counts(((struct symbolize_now *)context)->symbolizer);
}

void symbolize_now_init(struct symbolize_now *now, struct symbolizer *symbolizer,
			struct symbol_service *ret_service)
{
	*now = (struct symbolize_now){.symbolizer = symbolizer};
	*ret_service = (struct symbol_service){
		.request = now_request,
		.collect = now_collect,
		.counts = now_counts,
		.context = now,
	};
}

void symbolize_now_deinit(struct symbolize_now *now)
{
	vec_deinit(&now->requests);
}
