/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/options/rotation_value.h"

#include "cli/options/option_values.h"

bool rotation_parse(struct rotation_options *options)
{
	if (duration_parse(options->rotate, &options->period_ns))
		return options->period_ns >= 1000000000;
	return size_parse(options->rotate, &options->size_bytes) && options->size_bytes >= 1u << 20;
}
