/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/format/page_lives.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/leb128.h"
#include "base/scope.h"
#include "sink/format/page_column.h"
#include "sink/format/page_data.h"
#include "sink/frame_text.h"
#include "sink/shown_profile.h"
#include "sink/timeline/life_search.h"
#include "sink/write/json.h"
#include "state/code/code_region.h"
#include "symbolize/name/method_name.h"

#define ESCAPE_BYTES 6 /* the longest form of a byte in JSON: \u001b */

/* A life of the run, with its location and samples in the profile. */
struct candidate {
	uint32_t life;
	uint32_t location; /* one with samples, if there are any */
	uint64_t samples;
	uint64_t bytes;
};

void page_lives_deinit(struct page_lives *lives)
{
	vec_deinit(&lives->lives);
}

/* --- samples and order --------------------------------------------------------------------- */

static void count_samples(const struct view *view, const struct code_lives *lives,
			  struct candidate *candidates)
{
	for (uint32_t i = 0; i < view->profile->nodes.size; i++) {
		uint64_t self = view->profile->nodes.data[i].self;
		const struct location *location;
		const struct profile_node *shown;
		const struct code_life *life;
		struct candidate *candidate;

		if (!self)
			continue;
		shown = &view->profile->nodes.data[shown_profile_code(view, i)];
		location = shown->parent == PROFILE_NODE_NONE
				   ? NULL
				   : frame_text_location(view, shown->location);
		if (!location || location->kind != LOCATION_JIT || !location->code)
			continue;
		life = code_lives_find(
			lives, code_region_identity((const struct code_region *)location->code));
		if (!life)
			continue;
		candidate = &candidates[life - lives->lives.data];
		candidate->samples += self;
		candidate->location = shown->location;
	}
}

static int compare_candidates(const void *a_, const void *b_)
{
	const struct candidate *a = a_, *b = b_;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return a->life < b->life ? -1 : a->life > b->life;
}

/* --- one life ------------------------------------------------------------------------------ */

/* Cut a name, without a part of a character at its end. */
static void cut_name(char *name)
{
	size_t size = strlen(name);

	if (size <= PAGE_LIVES_NAME_MAX)
		return;
	for (size = PAGE_LIVES_NAME_MAX; size && (name[size] & 0xc0) == 0x80;)
		size--;
	name[size] = 0;
}

static int add_method(struct page_data *page, const struct view_options *options,
		      const char *class_name, const char *method, const char *module,
		      struct page_life *ret)
{
	AUTO_FREE char *name = NULL;

	if (method_name(class_name, method, !options->no_demangle, &name))
		return -ENOMEM;
	cut_name(name);
	return page_data_string(page, *name ? name : "[unknown]", &ret->name)
		       ?: page_data_string(page, *module ? module : "[jit]", &ret->module);
}

/*
 * Add the names that a frame of this code would have. Names of sampled code are in the page
 * already.
 */
static int add_names(struct page_data *page, const struct view *view,
		     const struct code_lives *lives, const struct candidate *candidate,
		     struct page_life *ret)
{
	const struct code_life *life = &lives->lives.data[candidate->life];
	const char *module = string_pool_get(lives->strings, life->module);
	struct frame_text frame;

	if (!candidate->samples)
		return add_method(page, &view->options,
				  string_pool_get(lives->strings, life->class_name),
				  string_pool_get(lives->strings, life->name), module, ret);
	frame_text_get(view, candidate->location, frame_text_count(view, candidate->location) - 1,
		       &frame);
	return page_data_string(page, frame.name, &ret->name)
		       ?: page_data_string(page, frame.module, &ret->module);
}

static uint64_t loaded_since(uint64_t start_ns, uint64_t loaded_ns)
{
	return loaded_ns < start_ns ? 0 : 1 + loaded_ns - start_ns;
}

static uint64_t ended_since(uint64_t start_ns, uint64_t ended_ns)
{
	if (ended_ns == UINT64_MAX)
		return 0;
	return 1 + (ended_ns > start_ns ? ended_ns - start_ns : 0);
}

static int make_life(struct page_data *page, const struct view *view,
		     const struct code_lives *lives, const struct candidate *candidate,
		     struct page_life *ret)
{
	const struct code_life *life = &lives->lives.data[candidate->life];
	const char *comm = string_pool_get(lives->strings, life->comm);

	*ret = (struct page_life){
		.pid = life->pid,
		.address = life->address,
		.bytes = life->size_bytes,
		.loaded = loaded_since(view->info->start_ns, life->loaded_ns),
		.ended = ended_since(view->info->start_ns, life->ended_ns),
		.samples = candidate->samples,
	};
	return add_names(page, view, lives, candidate, ret)
		       ?: page_data_string(page, *comm ? comm : "[unknown]", &ret->comm);
}

/* --- the budget ---------------------------------------------------------------------------- */

static uint64_t string_bytes(const char *s)
{
	uint64_t bytes = sizeof("\"\",") - 1;

	for (; *s; s++)
		bytes += (unsigned char)*s < ' ' || strchr("<>&\"\\", *s) ? ESCAPE_BYTES : 1;
	return bytes;
}

/* The bytes of a life in the page, with strings from number first_string on: base64 of LEB128. */
static uint64_t bytes_in_page(const struct page_data *page, const struct page_life *life,
			      uint32_t first_string)
{
	const uint64_t values[] = {life->name,	  life->module, life->comm,   life->pid,
				   life->address, life->bytes,	life->loaded, life->ended,
				   life->samples, life->number};
	uint8_t scratch[LEB128_BYTES_MAX];
	uint64_t bytes = 0;

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		bytes += leb128_write(values[i], scratch);
	bytes = (bytes * 4 + 2) / 3;
	for (uint32_t i = first_string; i < page->string_count; i++)
		bytes += string_bytes(string_pool_get(page->strings, i));
	return bytes;
}

static int take_in_order(struct page_data *page, const struct view *view,
			 const struct code_lives *lives, const struct candidate *candidates,
			 uint64_t max_bytes)
{
	uint64_t used = 0;
	bool full = false;

	for (size_t i = 0; i < lives->lives.size; i++) {
		uint32_t first_string = page->string_count;
		struct page_life life;

		if (!full) {
			if (make_life(page, view, lives, &candidates[i], &life))
				return -ENOMEM;
			used += bytes_in_page(page, &life, first_string);
			full = used > max_bytes;
		}
		if (full)
			code_left_out_add(&page->lives.left_out, candidates[i].bytes);
		else if (vec_push(&page->lives.lives, life))
			return -ENOMEM;
	}
	return 0;
}

int page_lives_take(struct page_data *page, const struct view *view, const struct code_lives *lives,
		    uint64_t max_bytes)
{
	size_t count = lives->lives.size;
	AUTO_FREE struct candidate *candidates = NULL;

	if (!count && !lives->forgotten.lives)
		return 0;
	candidates = calloc(count ?: 1, sizeof(*candidates));
	if (!candidates)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		candidates[i] =
			(struct candidate){.life = i, .bytes = lives->lives.data[i].size_bytes};
	count_samples(view, lives, candidates);
	qsort(candidates, count, sizeof(*candidates), compare_candidates);
	page->lives.known = true;
	page->lives.forgotten = lives->forgotten;
	return take_in_order(page, view, lives, candidates, max_bytes);
}

/* --- answers to live pages ------------------------------------------------------------------ */

static int make_listed(struct page_data *page, const struct view_options *options,
		       const struct life_list *list, const struct listed_life *life,
		       struct page_life *ret)
{
	const char *name = string_pool_get(list->strings, life->name);
	const char *comm = string_pool_get(list->strings, life->comm);
	const char *module = string_pool_get(list->strings, life->module);

	*ret = (struct page_life){
		.number = life->number,
		.pid = life->pid,
		.address = life->address,
		.bytes = life->bytes,
		.loaded = loaded_since(list->start_ns, life->loaded_ns),
		.ended = ended_since(list->start_ns, life->ended_ns),
		.samples = life->samples,
	};
	if (page_data_string(page, *comm ? comm : "[unknown]", &ret->comm))
		return -ENOMEM;
	if (life->framed)
		return page_data_string(page, name, &ret->name)
			       ?: page_data_string(page, module, &ret->module);
	return add_method(page, options, string_pool_get(list->strings, life->class_name), name,
			  module, ret);
}

int page_lives_take_list(struct page_data *page, const struct view_options *options,
			 const struct life_list *list, uint64_t max_bytes)
{
	struct page_lives *lives = &page->lives;
	uint64_t used = 0;

	lives->known = list->lives.size || list->left_out.lives || list->forgotten.lives;
	lives->left_out = list->left_out;
	lives->forgotten = list->forgotten;
	vec_for_each (listed, &list->lives) {
		uint32_t first_string = page->string_count;
		struct page_life life;

		if (used <= max_bytes) {
			if (make_listed(page, options, list, listed, &life))
				return -ENOMEM;
			used += bytes_in_page(page, &life, first_string);
		}
		if (used > max_bytes)
			code_left_out_add(&lives->left_out, listed->bytes);
		else if (vec_push(&lives->lives, life))
			return -ENOMEM;
	}
	return 0;
}

int lives_answer_write(const struct life_list *list, const struct view_options *options,
		       struct json *json)
{
	CLEANUP(page_data_deinit) struct page_data page = {0};
	int err = page_data_init(&page);

	err = err ?: page_lives_take_list(&page, options, list, LIVES_ANSWER_BYTES);
	if (err)
		return err;
	page.lives.known = page.lives.numbered = true;
	json_begin(json, '{');
	json_member_number(json, "total", list->total);
	json_key(json, "strings");
	json_begin(json, '[');
	for (uint32_t i = 0; i < page.string_count; i++)
		json_string(json, string_pool_get(page.strings, i));
	json_end(json, ']');
	err = page_lives_write(&page.lives, json);
	json_end(json, '}');
	return err;
}

/* --- writing ------------------------------------------------------------------------------- */

#define WRITE_MEMBER(lives_, column, json, member)                                                 \
	({                                                                                         \
		vec_for_each (life, &(lives_)->lives)                                              \
			page_column_put(column, life->member);                                     \
		page_column_write(column, json, #member);                                          \
	})

int page_lives_write(const struct page_lives *lives, struct json *json)
{
	CLEANUP(page_column_deinit) struct page_column column = {0};
	int err;

	if (!lives->known)
		return 0;
	json_key(json, "lives");
	json_begin(json, '{');
	json_member_number(json, "rows", lives->lives.size);
	json_member_number(json, "left_lives", lives->left_out.lives);
	json_member_number(json, "left_bytes", lives->left_out.bytes);
	json_member_number(json, "forgotten_lives", lives->forgotten.lives);
	json_member_number(json, "forgotten_bytes", lives->forgotten.bytes);
	err = WRITE_MEMBER(lives, &column, json, name) ?:
	      WRITE_MEMBER(lives, &column, json, module) ?:
	      WRITE_MEMBER(lives, &column, json, comm) ?:
	      WRITE_MEMBER(lives, &column, json, pid) ?:
	      WRITE_MEMBER(lives, &column, json, address) ?:
	      WRITE_MEMBER(lives, &column, json, bytes) ?:
	      WRITE_MEMBER(lives, &column, json, loaded) ?:
	      WRITE_MEMBER(lives, &column, json, ended) ?:
	      WRITE_MEMBER(lives, &column, json, samples);
	if (lives->numbered)
		err = err ?: WRITE_MEMBER(lives, &column, json, number);
	json_end(json, '}');
	return err;
}
