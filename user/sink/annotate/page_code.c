/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/annotate/page_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "sink/annotate/annotation_page.h"
#include "sink/annotate/function_samples.h"
#include "state/code/code_region.h"

/* Functions of one kind, name, module and source file, in the order of their numbers. */
struct group {
	size_t first, count; /* in writer.order */
	uint64_t samples;
	uint64_t weight; /* samples, or totals of functions of runtimes */
};

struct writer {
	const struct page_code *from;
	const struct view *view;
	struct json *json;
	struct function_samples samples;
	const struct sampled_function **order; /* by kind, name and module; then by samples */
	VEC(struct group) groups;	       /* by weight */
	uint64_t bytes;
	bool full;
};

static void writer_deinit(struct writer *w)
{
	function_samples_deinit(&w->samples);
	free(w->order);
	vec_deinit(&w->groups);
}

static uint64_t weight_of(const struct sampled_function *function)
{
	return function->kind == LOCATION_RUNTIME ? function->total : function->samples;
}

/* --- groups ------------------------------------------------------------------------------- */

static int compare_names(const struct sampled_function *a, const struct sampled_function *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return strcmp(a->name, b->name) ?: strcmp(a->module, b->module)
					?: strcmp(a->function_file, b->function_file);
}

static int compare_functions(const void *a_, const void *b_)
{
	const struct sampled_function *a = *(const struct sampled_function *const *)a_;
	const struct sampled_function *b = *(const struct sampled_function *const *)b_;
	int order = compare_names(a, b);

	if (order)
		return order;
	if (weight_of(a) != weight_of(b))
		return weight_of(a) > weight_of(b) ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int compare_groups(const void *a_, const void *b_)
{
	const struct group *a = a_, *b = b_;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

static int find_groups(struct writer *w)
{
	size_t count = w->samples.functions.size;

	w->order = calloc(count ?: 1, sizeof(*w->order));
	if (!w->order)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		w->order[i] = &w->samples.functions.data[i];
	qsort(w->order, count, sizeof(*w->order), compare_functions);
	for (size_t i = 0; i < count; i++) {
		if (!i || compare_names(w->order[i - 1], w->order[i])) {
			if (vec_push(&w->groups, ((struct group){.first = i})))
				return -ENOMEM;
		}
		w->groups.data[w->groups.size - 1].count++;
		w->groups.data[w->groups.size - 1].samples += w->order[i]->samples;
		w->groups.data[w->groups.size - 1].weight += weight_of(w->order[i]);
	}
	if (w->groups.size)
		qsort(w->groups.data, w->groups.size, sizeof(*w->groups.data), compare_groups);
	return 0;
}

/* --- writing ------------------------------------------------------------------------------ */

/* Write an annotation as a text of its own, of which the size is then known. */
static int make_text(const struct writer *w, const struct sampled_function *function, char **ret,
		     size_t *ret_bytes)
{
	const struct annotation_sources sources = {
		.view = w->view,
		.samples = &w->samples,
		.files = w->from->files.open_module ? &w->from->files : NULL,
		.symbolizer = w->from->symbolizer,
	};
	struct annotation annotation = {0};
	FILE *out = open_memstream(ret, ret_bytes);
	struct json json = json_of(out, false);
	int err;

	if (!out)
		return -ENOMEM;
	err = annotation_init(&annotation, &sources, function);
	err = err ?: annotation_reduce(&annotation, PAGE_INSTRUCTIONS_MAX);
	err = err ?: annotation_page_write(&json, &annotation, w->from->sources);
	annotation_deinit(&annotation);
	return fclose(out) && !err ? -ENOMEM : err;
}

static int write_code(struct writer *w, const struct sampled_function *function)
{
	AUTO_FREE char *text = NULL;
	size_t size_bytes = 0;
	int err;

	if (w->full)
		return 0;
	err = make_text(w, function, &text, &size_bytes);
	if (err)
		return err;
	w->full = w->bytes + size_bytes > PAGE_CODE_BYTES_MAX;
	if (w->full)
		return 0;
	w->bytes += size_bytes;
	json_key(w->json, "code");
	json_literal(w->json, text);
	return 0;
}

const char *page_code_kind(const struct sampled_function *function)
{
	return frame_kind_info(function->kind == LOCATION_RUNTIME
				       ? function->frame
				       : location_kind_info(function->kind)->frame)
		->label;
}

void page_code_write_life(struct json *json, const struct view *view,
			  const struct generation *generation)
{
	const struct code_region *region = generation->function->region;
	uint64_t start_ns = view->info->start_ns;
	char address[24];

	if (generation->function->kind == LOCATION_RUNTIME) {
		json_member_string(json, "name", generation->function->file);
		json_member_number(json, "total", generation->function->total);
	} else if (generation->function->serves != SERVES_NONE) {
		json_member_string(json, "name", generation->function->name);
	}
	if (*code_tier_word(generation->function->tier))
		json_member_string(json, "tier", code_tier_word(generation->function->tier));
	if (!region)
		return;
	snprintf(address, sizeof(address), "0x%llx", (unsigned long long)region->address);
	json_member_string(json, "address", address);
	json_member_number(json, "bytes", region->size_bytes);
	if (generation->loaded_ns >= start_ns)
		json_member_number(json, "loaded_ns", generation->loaded_ns - start_ns);
	else if (generation->loaded_ns)
		json_member_literal(json, "before_run", "true");
	if (generation->ended_ns == UINT64_MAX)
		json_member_literal(json, "live", "true");
	else if (generation->ended_ns >= start_ns)
		json_member_number(json, "ended_ns", generation->ended_ns - start_ns);
}

/* Returns true if JIT code ran for a function of the group. */
static bool is_served(const struct writer *w, const struct group *group,
		      const struct sampled_function *code)
{
	if (w->order[group->first]->kind != LOCATION_RUNTIME)
		return false;
	for (size_t i = 0; i < group->count; i++) {
		if (sampled_function_is_same(w->order[group->first + i], code))
			return code->kind == LOCATION_JIT;
	}
	return false;
}

/* List the code of a group, at most PAGE_CODE_GENERATIONS_MAX. Returns how much there is. */
static size_t find_generations(const struct writer *w, const struct group *group,
			       struct generation *ret, size_t *ret_count)
{
	size_t count = group->count, kept;

	if (count > PAGE_CODE_GENERATIONS_MAX)
		count = PAGE_CODE_GENERATIONS_MAX;
	for (kept = 0; kept < count; kept++)
		generation_init(&ret[kept], w->view, w->from->history,
				w->order[group->first + kept]);
	count = group->count;
	vec_for_each (code, &w->samples.functions) {
		if (!is_served(w, group, code))
			continue;
		count++;
		if (kept < PAGE_CODE_GENERATIONS_MAX)
			generation_init(&ret[kept++], w->view, w->from->history, code);
	}
	generations_sort(ret, kept);
	*ret_count = kept;
	return count;
}

static int write_generations(struct writer *w, const struct group *group)
{
	struct generation generations[PAGE_CODE_GENERATIONS_MAX];
	size_t count, all = find_generations(w, group, generations, &count);
	int err = 0;

	json_member_number(w->json, "more", all - count);
	json_key(w->json, "generations");
	json_begin(w->json, '[');
	for (size_t i = 0; i < count && !err; i++) {
		json_begin(w->json, '{');
		json_member_number(w->json, "samples", generations[i].function->samples);
		page_code_write_life(w->json, w->view, &generations[i]);
		err = write_code(w, generations[i].function);
		json_end(w->json, '}');
	}
	json_end(w->json, ']');
	return err;
}

static int write_group(struct writer *w, const struct group *group)
{
	const struct sampled_function *first = w->order[group->first];
	int err;

	json_begin(w->json, '{');
	json_member_string(w->json, "name", first->name);
	json_member_string(w->json, "module", first->module);
	json_member_string(w->json, "kind", page_code_kind(first));
	if (*first->function_file)
		json_member_string(w->json, "file", first->function_file);
	json_member_number(w->json, "samples", group->samples);
	err = write_generations(w, group);
	json_end(w->json, '}');
	return err;
}

/* Put the groups that have room in the page first, with the same order. Returns their number. */
static size_t keep_groups(struct writer *w)
{
	size_t kept = 0, runtime = 0, other = 0;

	for (size_t i = 0; i < w->groups.size; i++) {
		struct group group = w->groups.data[i];
		bool is_runtime = w->order[group.first]->kind == LOCATION_RUNTIME;

		if ((is_runtime ? runtime++ : other++) < PAGE_CODE_FUNCTIONS_MAX)
			w->groups.data[kept++] = group;
	}
	return kept;
}

int page_code_write(void *page_code, const struct view *view, struct json *json)
{
	CLEANUP(writer_deinit)
	struct writer w = {.from = page_code, .view = view, .json = json};
	int err = function_samples_init(&w.samples, view);
	size_t count;

	err = err ?: find_groups(&w);
	count = keep_groups(&w);
	json_key(json, "functions");
	json_begin(json, '{');
	json_member_number(json, "total", w.samples.total);
	json_member_number(json, "left_out", w.groups.size - count);
	json_member_number(json, "max_bytes", PAGE_CODE_BYTES_MAX);
	json_key(json, "list");
	json_begin(json, '[');
	for (size_t i = 0; i < count && !err; i++)
		err = write_group(&w, &w.groups.data[i]);
	json_end(json, ']');
	json_end(json, '}');
	return err;
}
