/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/engine_dump.h"

#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "engines/engines.h"
#include "state/code/code_map.h"

#define BYTES_MAX (256u << 20)

DEFINE_CLEANUP(struct code_map *, code_map_destroy);

/* The state of reading one file. */
struct pass {
	struct code_map *map;
	struct code_account *account;
	uint32_t inner_pid;
	uint64_t now_ns; /* time of the next event: they apply in the order of the file */
};

static int apply(void *context, struct code_event *event, const void *code)
{
	struct pass *pass = context;

	if (event->pid != pass->inner_pid)
		return 0;
	event->time_ns = event->reported_ns = event->since_ns = ++pass->now_ns;
	event->origin.engine = CODE_ENGINE_KNOWN;
	return code_map_apply(pass->map, pass->account, event);
}

static int count_region(void *context, const struct code_region *region)
{
	struct engine_dump *dump = context;

	dump->methods++;
	dump->bytes += region->size_bytes;
	return 0;
}

static int read_all(struct jitdump_file *file, struct jitdump_reader *reader,
		    struct engine_dump *dump)
{
	CLEANUP(code_account_putp) struct code_account *account = NULL;
	CLEANUP(code_map_destroyp) struct code_map *map = NULL;
	uint64_t number = 0, budget_bytes = BYTES_MAX;
	struct pass pass = {0};
	struct jitdump_taker taker = {.take = apply, .context = &pass};
	const struct engine *engine;
	int more = code_account_create(&code_budget_default, &account);

	more = more ?: code_map_create(&number, &map);
	more = more ?: jitdump_file_open(file, reader, false);
	pass = (struct pass){map, account, file->events.header.pid, 0};
	more = more ?: jitdump_file_read(file, reader, &budget_bytes, &taker);
	/* Records in the buffer of the process are missing, which is no error. */
	if (more < 0 && more != -EINPROGRESS)
		return more;
	if (!file->begun)
		return -EBADMSG;
	engine = engine_of_jitdump(file->events.header.reserved);
	dump->engine = engine ? engine->name : NULL;
	return code_map_for_each(map, count_region, dump);
}

int engine_dump_read(struct jitdump_reader *reader, uint32_t pid,
		     const struct engine_mapping *mapping, const char *path,
		     struct engine_dump *ret)
{
	size_t bytes = sizeof(struct jitbpf_mapping) + strlen(path) + 1;
	AUTO_FREE struct jitbpf_mapping *record = calloc(1, bytes);
	struct engine_dump dump = {0};
	struct jitdump_file file;
	int err;

	if (!record)
		return -ENOMEM;
	record->h.size_bytes = (uint32_t)bytes;
	record->pid = pid;
	record->address = mapping->start;
	record->size_bytes = mapping->end - mapping->start;
	record->inode = mapping->inode;
	record->dev_major = mapping->dev_major;
	record->dev_minor = mapping->dev_minor;
	memcpy(record->path, path, strlen(path) + 1);
	if (jitdump_file_init(&file, record))
		return -ENOMEM;
	err = read_all(&file, reader, &dump);
	jitdump_file_deinit(&file);
	if (err == -ENOMEM)
		return err;
	if (err)
		dump = (struct engine_dump){.unreadable = true};
	*ret = dump;
	return 0;
}
