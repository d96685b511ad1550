/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decode/text/jvm_answer.h"
#include "tests/fuzz/seeds.h"

SEEDS(6);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct jvm_answer answer;
	char words[16];
	int32_t code;

	if (jvm_answer_parse((const char *)data, size_bytes, &answer))
		return 0;
	seed_taken();
	if (answer.text_bytes >= size_bytes ||
	    answer.text + answer.text_bytes != (const char *)data + size_bytes)
		abort();
	if ((jvm_answer_return_code(&answer, &code) || jvm_answer_is_set(&answer)) && answer.status)
		abort();
	jvm_answer_is_early(&answer);
	jvm_answer_release(&answer);
	jvm_answer_words(&answer, words, sizeof(words));
	if (strlen(words) >= sizeof(words))
		abort();
	for (const char *c = words; *c; c++) {
		if (*c < ' ' || *c > '~')
			abort();
	}
	return 0;
}
