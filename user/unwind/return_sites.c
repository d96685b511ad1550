/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/return_sites.h"

#include <errno.h>

#include "base/hash.h"

static uint32_t number_of(uint32_t module, uint64_t offset)
{
	return hash_mix(module, offset) % RETURN_SITES_MAX;
}

static struct return_site *slot_of(struct return_sites *sites, uint32_t module, uint64_t offset)
{
	return &sites->slots[number_of(module, offset)];
}

uint64_t return_sites_key(uint32_t module, uint64_t offset)
{
	return unwind_key(UNWIND_KEY_RETURN, number_of(module, offset), 0);
}

static bool is_of(const struct return_site *site, uint32_t module, uint64_t offset)
{
	return site->module == module && site->offset == offset;
}

enum return_site_state return_sites_find(const struct return_sites *sites, uint32_t module,
					 uint64_t offset)
{
	const struct return_site *site = slot_of((struct return_sites *)sites, module, offset);

	if (is_of(site, module, offset))
		return site->state;
	return site->state == RETURN_SITE_WAITS ? RETURN_SITE_WAITS : RETURN_SITE_NEW;
}

void return_sites_asked(struct return_sites *sites, uint32_t module, uint64_t offset)
{
	*slot_of(sites, module, offset) = (struct return_site){
		.offset = offset, .module = module, .state = RETURN_SITE_WAITS};
}

void return_sites_take(struct return_sites *sites, uint32_t module, uint64_t offset, int error,
		       bool can_return)
{
	struct return_site *site = slot_of(sites, module, offset);

	unwind_wake(sites->woken, return_sites_key(module, offset));
	if (!is_of(site, module, offset))
		return;
	if (error == -ETIMEDOUT)
		site->state = RETURN_SITE_NEW;
	else
		site->state = !error && can_return ? RETURN_SITE_CAN : RETURN_SITE_CAN_NOT;
}
