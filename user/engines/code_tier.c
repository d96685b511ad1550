/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engines/code_tier.h"

static const char *const words[CODE_TIER_COUNT] = {
	[CODE_TIER_PLAIN] = "",
	[CODE_TIER_INTERPRETED] = "interpreted",
	[CODE_TIER_BASELINE] = "baseline",
	[CODE_TIER_MIDDLE] = "mid-tier",
	[CODE_TIER_OPTIMIZED] = "optimized",
	[CODE_TIER_TRACE] = "trace",
	[CODE_TIER_GENERATED] = "generated",
	[CODE_TIER_CLONE] = "clone",
	[CODE_TIER_PART] = "part",
	[CODE_TIER_COLD] = "cold",
	[CODE_TIER_INLINED] = "inlined",
	[CODE_TIER_COMPILED] = "compiled",
};

const char *code_tier_word(uint32_t tier)
{
	return words[tier < CODE_TIER_COUNT ? tier : CODE_TIER_PLAIN];
}
