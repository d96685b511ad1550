/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/annotate/annotation.h"

#include <errno.h>
#include <stdlib.h>

#include "base/scope.h"

#define NEAR 16 /* instructions on both sides of a sampled one */

static bool *near_samples(const struct annotation *annotation)
{
	size_t count = annotation->instructions.size;
	bool *near = calloc(count ?: 1, sizeof(*near));

	for (size_t i = 0; near && i < count; i++) {
		if (!annotation->instructions.data[i].samples)
			continue;
		for (size_t k = i > NEAR ? i - NEAR : 0; k <= i + NEAR && k < count; k++)
			near[k] = true;
	}
	return near;
}

int annotation_reduce(struct annotation *annotation, size_t max)
{
	size_t count = annotation->instructions.size, kept = 0;
	AUTO_FREE bool *near = NULL;

	if (count <= max)
		return 0;
	near = near_samples(annotation);
	if (!near)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct annotated_instruction *now = &annotation->instructions.data[i];

		if (near[i] && kept < max) {
			annotation->instructions.data[kept++] = *now;
			continue;
		}
		annotation->skipped++;
		annotation->unshown += now->samples;
	}
	annotation->instructions.size = kept;
	return 0;
}
