/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A simple model of a space map: an array of all entries that ever existed, searched linearly. */
#ifndef JITBPF_TESTS_UNIT_STATE_SPACE_MODEL_H
#define JITBPF_TESTS_UNIT_STATE_SPACE_MODEL_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MODEL_ENTRIES 16384

struct model_entry {
	uint64_t start, end, from_ns, to_ns;
	const void *value;
};

struct model {
	struct model_entry entries[MODEL_ENTRIES]; /* in order of arrival */
	size_t size;
	uint64_t cleared_ns;
};

static inline bool model_lives(const struct model_entry *entry)
{
	return entry->to_ns == UINT64_MAX;
}

static inline void model_drop_empty(struct model *model)
{
	size_t kept = 0;

	for (size_t i = 0; i < model->size; i++) {
		if (model->entries[i].from_ns < model->entries[i].to_ns)
			model->entries[kept++] = model->entries[i];
	}
	model->size = kept;
}

/* An older entry ends at the new one; a newer entry limits the new one. */
static inline void model_insert(struct model *model, uint64_t start, uint64_t end, uint64_t time_ns,
				const void *value)
{
	struct model_entry fresh = {start, end, time_ns, UINT64_MAX, value};

	if (time_ns < model->cleared_ns)
		fresh.to_ns = model->cleared_ns;
	for (size_t i = 0; i < model->size; i++) {
		struct model_entry *entry = &model->entries[i];

		if (entry->start >= end || entry->end <= start)
			continue;
		if (entry->from_ns > time_ns && entry->from_ns < fresh.to_ns)
			fresh.to_ns = entry->from_ns;
		if (entry->from_ns <= time_ns && model_lives(entry))
			entry->to_ns = time_ns;
	}
	assert(model->size < MODEL_ENTRIES);
	model->entries[model->size++] = fresh;
	model_drop_empty(model);
}

/* End live entries that are not newer and start in [start, end); value NULL means any value. */
static inline size_t model_end(struct model *model, uint64_t start, uint64_t end, const void *value,
			       uint64_t time_ns)
{
	size_t ended = 0;

	for (size_t i = 0; i < model->size; i++) {
		struct model_entry *entry = &model->entries[i];

		if (model_lives(entry) && entry->from_ns <= time_ns && entry->start >= start &&
		    entry->start < end && (!value || entry->value == value)) {
			entry->to_ns = time_ns;
			ended++;
		}
	}
	model_drop_empty(model);
	return ended;
}

static inline void model_clear(struct model *model, uint64_t time_ns)
{
	model_end(model, 0, UINT64_MAX, NULL, time_ns);
	if (model->cleared_ns < time_ns)
		model->cleared_ns = time_ns;
}

static inline void model_forget(struct model *model, uint64_t time_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < model->size; i++) {
		if (model->entries[i].to_ns >= time_ns)
			model->entries[kept++] = model->entries[i];
	}
	model->size = kept;
}

static inline void model_clone(const struct model *model, struct model *clone)
{
	clone->size = 0;
	clone->cleared_ns = model->cleared_ns;
	for (size_t i = 0; i < model->size; i++) {
		if (model_lives(&model->entries[i]))
			clone->entries[clone->size++] = model->entries[i];
	}
}

/* Returns the entry that covers the address at that time and started last. */
static inline const struct model_entry *model_find(const struct model *model, uint64_t address,
						   uint64_t time_ns)
{
	const struct model_entry *best = NULL;

	for (size_t i = 0; i < model->size; i++) {
		const struct model_entry *entry = &model->entries[i];

		if (address < entry->start || address >= entry->end || time_ns < entry->from_ns ||
		    time_ns >= entry->to_ns)
			continue;
		if (!best || entry->from_ns > best->from_ns ||
		    (entry->from_ns == best->from_ns && entry->to_ns >= best->to_ns))
			best = entry;
	}
	return best;
}

static inline size_t model_living(const struct model *model)
{
	size_t living = 0;

	for (size_t i = 0; i < model->size; i++)
		living += model_lives(&model->entries[i]);
	return living;
}

/* A deterministic sequence of pseudo-random numbers. */
struct dice {
	uint64_t state;
};

static inline uint64_t dice_roll(struct dice *dice, uint64_t sides)
{
	dice->state += 0x9e3779b97f4a7c15ull;
	uint64_t z = dice->state;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (z ^ z >> 31) % sides;
}

#endif
