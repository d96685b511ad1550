/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/format/pprof_writer.h"

#include <errno.h>
#include <string.h>

#include "base/hash.h"
#include "base/intern.h"
#include "base/scope.h"
#include "sink/frame_text.h"

uint32_t pprof_string_of_scratch(struct pprof_writer *w)
{
	struct text *text = &w->scratch;
	size_t size = text->bytes.size;
	uint32_t number = 0;

	text->bytes.size = 0;
	if (!w->error && (text->failed ||
			  (size && string_pool_add(w->strings, text->bytes.data, size, &number))))
		w->error = -ENOMEM;
	if (number >= w->string_count)
		w->string_count = number + 1;
	return number;
}

uint32_t pprof_string_of(struct pprof_writer *w, const char *s)
{
	text_put_name(&w->scratch, s, 0, 0);
	return pprof_string_of_scratch(w);
}

void pprof_pass_on(struct pprof_writer *w, size_t bytes)
{
	int err = 0;

	if (w->message.failed || w->message.bytes.size >= bytes)
		err = protobuf_write(&w->message, w->out);
	w->error = w->error ?: err;
}

/* A place in code is one location, whether or not it serves a runtime's frames in a stack. */
static uint32_t place_of(const struct pprof_writer *w, uint32_t location)
{
	const struct location_table *table = w->view->locations;
	struct location place = table->locations.data[location];
	uint32_t found;

	if (!place.is_interpreter)
		return location;
	place.is_interpreter = false;
	found = location_table_find(table, &place);
	return found < w->layout.location_count ? found : location;
}

/* All unknown location numbers share one ID, behind the last location. */
uint64_t pprof_use_location(struct pprof_writer *w, uint32_t location)
{
	if (location >= w->layout.location_count)
		location = (uint32_t)w->layout.location_count;
	else
		location = place_of(w, location);
	w->used[location] = true;
	return (uint64_t)location + 1;
}

static void put_mapping(struct pprof_writer *w, uint32_t number)
{
	const struct address_range *range = &w->layout.ranges.data[number];
	const struct module *module = range->module;
	struct protobuf *message = &w->message;
	size_t begin = protobuf_begin(message, PB_PROFILE_MAPPING);

	protobuf_put(message, PB_MAPPING_ID, number + 1);
	protobuf_put(message, PB_MAPPING_START, range->start);
	protobuf_put(message, PB_MAPPING_LIMIT, range->limit);
	protobuf_put_nonzero(message, PB_MAPPING_OFFSET, range->file_offset);
	protobuf_put(message, PB_MAPPING_FILE, pprof_string_of(w, range->name));
	for (uint32_t i = 0; module && i < module->build_id_bytes; i++)
		text_printf(&w->scratch, "%02x", module->build_id[i]);
	protobuf_put_nonzero(message, PB_MAPPING_BUILD_ID, pprof_string_of_scratch(w));
	protobuf_put(message, PB_MAPPING_HAS_FUNCTIONS, true);
	protobuf_put_nonzero(message, PB_MAPPING_HAS_FILES, range->has_files);
	protobuf_put_nonzero(message, PB_MAPPING_HAS_LINES, range->has_lines);
	protobuf_put_nonzero(message, PB_MAPPING_HAS_INLINED, range->has_inlined);
	protobuf_end(message, begin);
}

/* Readers take the first mapping for the main program. */
static void put_mappings(struct pprof_writer *w)
{
	if (w->layout.main != ADDRESS_LAYOUT_NONE)
		put_mapping(w, w->layout.main);
	for (uint32_t i = 0; i < w->layout.ranges.size; i++) {
		if (i != w->layout.main)
			put_mapping(w, i);
	}
}

static bool equal_function(const void *items, uint32_t item, const void *key_)
{
	const struct pprof_function *function = (const struct pprof_function *)items + item;
	const struct pprof_function *key = key_;

	return function->name == key->name && function->file == key->file;
}

/* Returns the ID of a frame's function. */
static uint64_t function_of(struct pprof_writer *w, const struct frame_text *frame)
{
	struct pprof_function key = {.name = pprof_string_of(w, frame->name)};
	uint32_t function = 0;

	key.file = pprof_string_of(w, frame->file);
	if (vec_intern(&w->functions, &w->function_index, hash_mix(key.name, key.file),
		       equal_function, &key, &function) < 0)
		w->error = w->error ?: -ENOMEM;
	return (uint64_t)function + 1;
}

static void put_location(struct pprof_writer *w, uint32_t location)
{
	struct protobuf *message = &w->message;
	size_t begin = protobuf_begin(message, PB_PROFILE_LOCATION), line;
	uint32_t count = frame_text_count(w->view, location), range;
	uint64_t address;

	range = address_layout_find(&w->layout, w->view, location, &address);
	protobuf_put(message, PB_LOCATION_ID, (uint64_t)location + 1);
	if (range != ADDRESS_LAYOUT_NONE)
		protobuf_put(message, PB_LOCATION_MAPPING, (uint64_t)range + 1);
	protobuf_put_nonzero(message, PB_LOCATION_ADDRESS, address);
	for (uint32_t i = 0; i < count; i++) {
		struct frame_text frame;

		frame_text_get(w->view, location, i, &frame);
		line = protobuf_begin(message, PB_LOCATION_LINE);
		protobuf_put(message, PB_LINE_FUNCTION, function_of(w, &frame));
		protobuf_put_nonzero(message, PB_LINE_NUMBER, frame.line);
		protobuf_end(message, line);
	}
	protobuf_end(message, begin);
}

static void put_function(struct pprof_writer *w, uint32_t number)
{
	const struct pprof_function *function = &w->functions.data[number];
	size_t begin = protobuf_begin(&w->message, PB_PROFILE_FUNCTION);

	protobuf_put(&w->message, PB_FUNCTION_ID, (uint64_t)number + 1);
	protobuf_put(&w->message, PB_FUNCTION_NAME, function->name);
	protobuf_put(&w->message, PB_FUNCTION_SYSTEM_NAME, function->name);
	protobuf_put_nonzero(&w->message, PB_FUNCTION_FILE, function->file);
	protobuf_end(&w->message, begin);
}

static void put_string(struct pprof_writer *w, uint32_t number)
{
	const char *s = string_pool_get(w->strings, number);

	protobuf_put_bytes(&w->message, PB_PROFILE_STRING, s, strlen(s));
}

void pprof_put_code(struct pprof_writer *w)
{
	put_mappings(w);
	for (size_t i = 0; i <= w->layout.location_count; i++) {
		if (w->used[i])
			put_location(w, (uint32_t)i);
		pprof_pass_on(w, PPROF_PASS_ON_BYTES);
	}
	for (uint32_t i = 0; i < w->functions.size; i++) {
		put_function(w, i);
		pprof_pass_on(w, PPROF_PASS_ON_BYTES);
	}
	for (uint32_t i = 0; i < w->string_count; i++) {
		put_string(w, i);
		pprof_pass_on(w, PPROF_PASS_ON_BYTES);
	}
}
