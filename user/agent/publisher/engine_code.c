/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/engine_code.h"

#include <errno.h>
#include <string.h>

#include "agent/publisher/journal/journal_file.h"
#include "agent/publisher/journal/journal_reader.h"
#include "base/scope.h"
#include "decode/media/jit_event.h"
#include "state/code/code_map.h"

static const struct journal_budget budget = {
	.bytes = {.level = 2 * JIT_JOURNAL_BYTES_MAX},
	.wait_ns = {.level = 200000000u},
};

/* Attempts to read a journal whose compactions interrupt the reading. */
#define TRIES_MAX 8

struct pass {
	const struct engine_maps *maps;
	const struct journal_file *file;
	struct code_map *map;
	struct code_account *account;
	uint64_t now; /* time of the next event; entries are in order, but their times may not be */
	uint64_t number; /* next region number */
	uint32_t begun;	 /* number of passes over the current file */
	struct engine_code *code;
};

void engine_code_deinit(struct engine_code *code)
{
	vec_deinit(&code->engines);
}

static int begin(void *context)
{
	struct pass *pass = context;

	if (!pass->begun++)
		return 0;
	/*
	 * A compaction may have dropped applied events together with the events that ended
	 * them. Inherited code is not certain either, so the map starts empty.
	 */
	code_map_destroy(pass->map);
	pass->map = NULL;
	return code_map_create(&pass->number, &pass->map);
}

static int apply(void *context, const struct jit_journal_entry *entry)
{
	const struct jitbpf_jit_header *header = &entry->header;
	struct pass *pass = context;
	struct jitbpf_jit record = {.h.flags = JITBPF_JIT_FROM_JOURNAL};
	struct jit_event jit;
	struct code_event event;
	uint32_t file;

	if (header->sequence >= pass->file->end_sequence || header->time_ns >= pass->file->end_ns)
		return 0;
	if (jit_fields_decode(header, (const uint8_t *)entry->data + sizeof(*header),
			      header->size_bytes - sizeof(*header), &jit))
		return 0;
	file = engine_maps_file_at(pass->maps, header->caller);
	jit_event_convert(&jit, &record, &event);
	event.time_ns = event.reported_ns = ++pass->now;
	event.origin.engine =
		file == UINT32_MAX ? header->caller & ~CODE_ENGINE_KNOWN : CODE_ENGINE_KNOWN | file;
	return code_map_apply(pass->map, pass->account, &event);
}

static int count_region(void *context, const struct code_region *region)
{
	struct pass *pass = context;
	uint32_t file = (uint32_t)pass->maps->files.size; /* the engine is not known */
	struct engine_count *engine;

	code_region_dso(region, &file);
	engine = &pass->code->engines.data[file];
	engine->methods++;
	engine->bytes += region->size_bytes;
	return 0;
}

/* Count for each file, and for the unknown engine; then drop engines without methods. */
static int count_engines(struct pass *pass)
{
	struct engine_code *code = pass->code;
	uint32_t files = (uint32_t)pass->maps->files.size;
	size_t kept = 0;

	if (vec_reserve(&code->engines, files + 1))
		return -ENOMEM;
	for (uint32_t i = 0; i <= files; i++)
		code->engines.data[i] = (struct engine_count){.file = i < files ? i : UINT32_MAX};
	code_map_for_each(pass->map, count_region, pass);
	for (uint32_t i = 0; i <= files; i++) {
		if (code->engines.data[i].methods)
			code->engines.data[kept++] = code->engines.data[i];
	}
	code->engines.size = kept;
	return 0;
}

/* Apply the events of one journal. Takes over its descriptor. */
static int read_file(struct pass *pass, struct journal_file *file, journal_room *room)
{
	struct journal_reader reader = {.fd = file->fd, .size_bytes = file->size_bytes};
	struct journal_taker taker = {.begin = begin, .entry = apply, .context = pass};
	struct journal_budget one = budget, all = budget;
	struct journal_budget *const budgets[2] = {&one, &all};
	int err;

	file->fd = -1;
	pass->file = file;
	pass->begun = 0;
	do {
		err = journal_reader_read(&reader, budgets, room, UINT64_MAX, &taker);
	} while (err == -EINPROGRESS);
	journal_reader_close(&reader);
	return err;
}

static int read_all(struct file_store *store, uint32_t pid, enum jitbpf_publisher publisher,
		    const struct engine_maps *maps, struct engine_code *code)
{
	CLEANUP(journal_files_close) struct journal_files files = {0};
	struct pass pass = {.maps = maps, .code = code};
	journal_room room = {0};
	int err = journal_files_open(store, pid, publisher, &files);

	code->journal = !err && files.count;
	code->other_version = !err && !files.count && files.other_version;
	err = err ?: code_account_create(&code_budget_default, &pass.account);
	err = err ?: code_map_create(&pass.number, &pass.map);
	for (size_t i = 0; i < files.count && !err; i++)
		err = read_file(&pass, &files.files[i], &room);
	err = err ?: count_engines(&pass);
	code_map_destroy(pass.map);
	code_account_put(pass.account);
	vec_deinit(&room);
	return err;
}

int engine_code_read(struct file_store *store, uint32_t pid, enum jitbpf_publisher publisher,
		     const struct engine_maps *maps, struct engine_code *ret)
{
	CLEANUP(engine_code_deinit) struct engine_code code = {0};
	int err = -EBUSY;

	for (int i = 0; i < TRIES_MAX && err == -EBUSY; i++) {
		engine_code_deinit(&code);
		code = (struct engine_code){0};
		err = read_all(store, pid, publisher, maps, &code);
	}
	if (err == -EBADMSG || err == -EBUSY || err == -EDQUOT || err == -ENOTSUP) {
		code.unreadable = err != -ENOTSUP;
		code.other_version = err == -ENOTSUP;
		code.engines.size = 0;
		err = 0;
	}
	if (err)
		return err;
	*ret = code;
	code = (struct engine_code){0};
	return 0;
}
