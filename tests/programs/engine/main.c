/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "base/scope.h"
#include "tests/programs/engine/engine.h"

static const struct mode {
	const char *name;
	int (*run)(struct engine *engine);
} modes[] = {
	{"storm", storm_mode}, {"hot", hot_mode}, {"frames", frames_mode},   {"deep", deep_mode},
	{"loads", loads_mode}, {"api", api_mode}, {"hostile", hostile_mode}, {"stale", stale_mode},
};

static const struct mode *mode_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		if (strcmp(modes[i].name, name) == 0)
			return &modes[i];
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct engine engine = {.next_id = 1, .next_generation = 1};
	const struct mode *mode;
	int err;

	if (options_parse(argc, argv, &engine.options))
		return 2;
	if (engine.options.help) {
		options_help();
		return 0;
	}
	mode = mode_find(engine.options.mode);
	if (!mode) {
		fprintf(stderr, "jit-engine: no mode %s\n", engine.options.mode);
		return 2;
	}
	err = arena_map(&engine.arena, engine.options.threads * engine.options.slots,
			engine.options.code_bytes);
	if (err) {
		fprintf(stderr, "jit-engine: arena: %s\n", strerror(-err));
		return 1;
	}
	if (engine.options.dump)
		err = dump_open(&engine.dump, engine.options.dump);
	if (err) {
		fprintf(stderr, "jit-engine: %s: %s\n", engine.options.dump, strerror(-err));
		return 1;
	}
	if (!engine.options.no_api && !jit_client_open(&engine.client))
		fputs("jit-engine: no collector listens\n", stderr);
	printf("arena %p %p\n", (void *)engine.arena.start, (void *)arena_end(&engine.arena));
	fflush(stdout);
	return mode->run(&engine);
}
