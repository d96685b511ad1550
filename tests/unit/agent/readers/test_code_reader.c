/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Annotations by a reader process are those that are made here. */
#include <stdint.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/readers/code_reader.h"
#include "base/scope.h"
#include "sink/annotate/annotation_message.h"
#include "state/code/code_region.h"
#include "tests/unit/agent/readers/made_reader.h"
#include "tests/unit/cases.h"

/* push %rbp; add $0x10, %rax; inc %eax; ret */
static const uint8_t jit_code[] = {0x55, 0x48, 0x83, 0xc0, 0x10, 0xff, 0xc0, 0xc3};

static struct module self = {.number = 1, .path = OWN_PROGRAM};
static struct module no_elf = {.number = 2, .path = "/proc/self/status"};

struct fixture {
	struct made_reader made;
	struct code_reader *reader;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	return made_reader_init(&fixture->made)
		       ?: code_reader_create(&fixture->made.options, &fixture->reader);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	code_reader_destroy(fixture->reader);
	made_reader_deinit(&fixture->made);
	free(fixture);
	return 0;
}

static void check_text(const struct annotation *annotation, size_t i, uint64_t offset,
		       uint64_t samples, const char *text)
{
	const struct annotated_instruction *now = &annotation->instructions.data[i];

	assert_int_equal(now->offset, offset);
	assert_int_equal(now->samples, samples);
	assert_string_equal(string_pool_get(annotation->strings, now->text), text);
}

CASE_WITH(jit_code_is_disassembled, setup, teardown)
{
	const struct fixture *fixture = *state;
	struct code_record record = {
		.region = {.address = 0x7f0000001000, .size_bytes = sizeof(jit_code)}};
	struct sampled_function function = {
		.kind = LOCATION_JIT, .region = &record.region, .count = 3};
	const struct place_samples places[] = {{1, 5, 0}, {5, 2, 1}, {5, 3, 2}};
	const struct code_task task = {.function = &function,
				       .places = places,
				       .code = jit_code,
				       .code_bytes = sizeof(jit_code)};
	struct annotation annotation;

	assert_int_equal(code_reader_annotate(fixture->reader, &task, &annotation), 0);
	assert_int_equal(annotation.instructions.size, 4);
	assert_int_equal(annotation.address, 0x7f0000001000);
	assert_int_equal(annotation.lack, CODE_IS_KNOWN);
	check_text(&annotation, 0, 0, 0, "push %rbp");
	check_text(&annotation, 1, 1, 5, "add $0x10, %rax");
	check_text(&annotation, 2, 5, 5, "inc %eax");
	check_text(&annotation, 3, 7, 0, "ret");
	annotation_deinit(&annotation);
	assert_int_equal(fixture->made.failures, 0);
}

/* Code of a file, which the reader opens through the recorder. */
CASE_WITH(native_code_is_read, setup, teardown)
{
	const struct fixture *fixture = *state;
	struct sampled_function function = {.kind = LOCATION_NATIVE, .count = 1};
	const struct place_samples places[] = {{0, 9, 0}};
	struct code_task task = {.function = &function, .places = places, .module = &self};
	struct annotation annotation;

	function.start = 0x1000; /* some bytes of the file */
	assert_int_equal(code_reader_annotate(fixture->reader, &task, &annotation), 0);
	assert_true(annotation.code_bytes > 0);
	assert_true(annotation.instructions.size > 0);
	assert_int_equal(annotation.instructions.data[0].samples, 9);
	annotation_deinit(&annotation);

	task.module = &no_elf;
	function.start = 1ull << 60;
	assert_int_equal(code_reader_annotate(fixture->reader, &task, &annotation), 0);
	assert_int_not_equal(annotation.lack, CODE_IS_KNOWN);
	assert_int_equal(annotation.instructions.size, 1);
	annotation_deinit(&annotation);
	assert_int_equal(fixture->made.failures, 0);
}

CASE_WITH(a_large_function_is_cut, setup, teardown)
{
	const struct fixture *fixture = *state;
	uint32_t size_bytes = 1u << 20;
	AUTO_FREE uint8_t *code = malloc(size_bytes);
	struct code_record record = {.region = {.address = 0x1000, .size_bytes = size_bytes}};
	struct sampled_function function = {
		.kind = LOCATION_JIT, .region = &record.region, .count = 2};
	const struct place_samples places[] = {{100, 5, 0}, {size_bytes - 1, 2, 1}};
	const struct code_task task = {
		.function = &function, .places = places, .code = code, .code_bytes = size_bytes};
	struct annotation annotation;
	uint64_t samples = 0;

	memset(code, 0x90, size_bytes);
	assert_int_equal(code_reader_annotate(fixture->reader, &task, &annotation), 0);
	assert_int_equal(annotation.lack, CODE_IS_CUT);
	assert_int_equal(annotation.code_bytes, READER_ANNOTATE_CODE_MAX);
	assert_true(annotation.instructions.size <= READER_INSTRUCTIONS_MAX);
	vec_for_each (instruction, &annotation.instructions)
		samples += instruction->samples;
	assert_int_equal(samples, 7);
	assert_true(annotation.skipped > 0);
	annotation_deinit(&annotation);
}

/* Any change of an answer is refused, or gives numbers that are valid. */
CASE_WITH(damaged_answers_do_no_harm, setup, teardown)
{
	const struct fixture *fixture = *state;
	struct code_record record = {.region = {.address = 1, .size_bytes = sizeof(jit_code)}};
	struct sampled_function function = {
		.kind = LOCATION_JIT, .region = &record.region, .count = 1};
	const struct place_samples places[] = {{1, 5, 0}};
	const struct code_task task = {.function = &function,
				       .places = places,
				       .code = jit_code,
				       .code_bytes = sizeof(jit_code)};
	struct annotation annotation, read;
	message_bytes bytes = {0};
	size_t refused = 0;

	assert_int_equal(code_reader_annotate(fixture->reader, &task, &annotation), 0);
	assert_int_equal(annotation_message_put(&bytes, &annotation), 0);
	annotation_deinit(&annotation);
	for (size_t size = 0; size < bytes.size; size++) {
		assert_int_equal(annotation_message_get(bytes.data, size, &function, &read),
				 -EBADMSG);
		annotation_deinit(&read);
	}
	for (size_t i = 0; i < bytes.size; i++) {
		bytes.data[i] ^= 0xff;
		refused += annotation_message_get(bytes.data, bytes.size, &function, &read) != 0;
		vec_for_each (instruction, &read.instructions)
			assert_true(instruction->first + instruction->frame_count <=
				    read.frames.size);
		annotation_deinit(&read);
		bytes.data[i] ^= 0xff;
	}
	assert_true(refused > 20);
	vec_deinit(&bytes);
}
