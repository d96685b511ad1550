/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Annotations that a reader process answers: what is accepted is encoded to the same bytes, and can
 * be written for the page. */
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "sink/annotate/annotation_message.h"
#include "sink/annotate/annotation_page.h"
#include "tests/fuzz/seeds.h"

SEEDS(3);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	const struct sampled_function function = {.kind = LOCATION_NATIVE};
	struct annotation annotation = {0};
	message_bytes again = {0};

	if (!annotation_message_get(data, size_bytes, &function, &annotation)) {
		char *text = NULL;
		size_t text_bytes;
		FILE *out = open_memstream(&text, &text_bytes);
		struct json json = json_of(out, false);

		seed_taken();
		CHECK(!annotation_message_put(&again, &annotation));
		CHECK(again.size == size_bytes && !memcmp(again.data, data, size_bytes));
		CHECK(!annotation_page_write(&json, &annotation, NULL));
		fclose(out);
		free(text);
		vec_deinit(&again);
	}
	annotation_deinit(&annotation);
	return 0;
}
