/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/symbol_service.h"

#include <errno.h>
#include <stdlib.h>

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

static int now_request(void *context, uint64_t ticket, const struct location *what,
		       const struct module *module)
{
	struct symbolize_now *now = context;
	struct symbol_request request = {
		.ticket = ticket,
		.kind = what->kind,
		.offset = what->offset,
		.module = module,
	};

	if (vec_push(&now->requests, request))
		return -ENOMEM;
	module_hold(module);
	return 0;
}

static void drop_requests(struct symbolize_now *now)
{
	vec_for_each (request, &now->requests)
		module_release(request->module);
	now->requests.size = 0;
}

static uint32_t module_number(const struct symbol_request *request)
{
	return request->module ? request->module->number + 1 : 0;
}

static int compare_requests(const void *a_, const void *b_)
{
	const struct symbol_request *a = a_, *b = b_;
	uint32_t module_a = module_number(a), module_b = module_number(b);

	if (module_a != module_b)
		return module_a < module_b ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

void symbol_requests_sort(struct symbol_request *requests, size_t count)
{
	if (count)
		qsort(requests, count, sizeof(*requests), compare_requests);
}

static int now_collect(void *context, bool wait, symbol_taker_fn take, void *take_context)
{
	struct symbolize_now *now = context;
	const struct naming_progress *progress = &now->progress;
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	size_t all = now->requests.size;
	uint32_t count;
	int err = 0;

	if (!wait)
		return 0;
	symbol_requests_sort(now->requests.data, all);
	for (size_t i = 0; i < all && !err; i++) {
		const struct symbol_request *request = &now->requests.data[i];
		const struct module *module = request->module;

		if (progress->show)
			progress->show(progress->context, i, all, module ? module->path : NULL);
		err = symbolizer_location(now->symbolizer, request->kind, request->offset, module,
					  frames, &count);
		err = err ?: take(take_context, request->ticket, frames, count);
	}
	if (!err)
		drop_requests(now);
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
	drop_requests(now);
	vec_deinit(&now->requests);
}
