/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "base/scope.h"
#include "runtimes/engine_host.h"
#include "tests/unit/cases.h"
#include "tests/unit/state/made_mapping.h"

#define PID 100

struct world {
	struct string_pool *strings;
	struct module_table modules;
	struct process_table processes;
	struct process *process;
	uint64_t mapped, loaded_ns;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	assert_int_equal(string_pool_create(&w->strings), 0);
	process_table_init(&w->processes, w->strings, &w->modules, &code_budget_default, NULL);
	assert_int_equal(process_table_at(&w->processes, PID, 7, 0, &w->process), 0);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	process_table_deinit(&w->processes);
	module_table_deinit(&w->modules);
	string_pool_destroy(w->strings);
	free(w);
	return 0;
}

/* Map a file after those mapped before; its number is their count. */
static const struct module *map(struct world *w, const char *path)
{
	struct made_mapping *made = malloc(sizeof(*made));

	assert_non_null(made);
	made_mapping(made, path, ++w->mapped, "");
	made->mapping.address = w->mapped << 20;
	assert_int_equal(process_table_map(&w->processes, &made->mapping), 0);
	free(made);
	return module_table_get(&w->modules, w->modules.count - 1);
}

/* Find the host of code that a module has reported by the JIT API; NULL: a jitdump file has. */
static const struct module *host(struct world *w, const struct module *engine)
{
	const struct code_claim claim = {
		.origin = {.publisher = engine ? JITBPF_PUBLISHER_SHIM : JITBPF_PUBLISHER_JITDUMP,
			   .engine = engine ? CODE_ENGINE_KNOWN | engine->number : 0},
	};
	const struct code_region region = {.name = "Interpreter",
					   .claims = &claim,
					   .claim_count = 1,
					   .loaded_ns = w->loaded_ns};
	struct engine_host found = engine_host_find(w->process, &w->modules, &region);

	assert_int_equal(found.frames, ENGINE_FRAMES_ANY);
	assert_int_equal(engine_host_frames(&region), ENGINE_FRAMES_ANY);

	if (found.module)
		assert_string_equal(found.function, "execute_ex");
	else
		assert_null(found.function);
	return found.module;
}

CASE_WITH(test_program, setup, teardown)
{
	struct world *w = *state;
	const struct module *program = map(w, "/usr/bin/php8.2"), *engine;

	map(w, "/usr/lib/x86_64-linux-gnu/libc.so.6");
	engine = map(w, "/usr/lib/php/20220829/opcache.so");
	assert_ptr_equal(host(w, engine), program);
}

CASE_WITH(test_server, setup, teardown)
{
	struct world *w = *state;
	const struct module *library, *engine;

	map(w, "/usr/sbin/apache2");
	engine = map(w, "/usr/lib/php/20220829/opcache.so");
	map(w, "/usr/lib/php/20220829/phpiredis.so");
	assert_null(host(w, engine));
	library = map(w, "/usr/lib/apache2/modules/libphp8.2.so");
	assert_ptr_equal(host(w, engine), library);
}

/* Since PHP 8.5, opcache is built into PHP. */
CASE_WITH(test_built_in, setup, teardown)
{
	struct world *w = *state;
	const struct module *program = map(w, "/usr/sbin/php-fpm");

	assert_ptr_equal(host(w, program), program);
}

CASE_WITH(test_others, setup, teardown)
{
	struct world *w = *state;
	const struct module *engine;

	map(w, "/usr/bin/php8.2");
	engine = map(w, "/usr/lib/x86_64-linux-gnu/libdnnl.so.2");
	assert_null(host(w, engine));
}

/* Which module wrote a jitdump file is unknown: the host is the engine that the process runs. */
CASE_WITH(test_no_publisher, setup, teardown)
{
	struct world *w = *state;
	const struct module *program;

	assert_null(host(w, NULL));
	map(w, "/usr/bin/node");
	assert_null(host(w, NULL));
	program = map(w, "/usr/bin/php8.2");
	assert_ptr_equal(host(w, NULL), program);
}

/* However many mappings the process has: none of them is visited. */
CASE_WITH(test_far_away, setup, teardown)
{
	struct world *w = *state;
	const struct module *engine = map(w, "/opt/opcache.so"), *program;

	for (uint32_t i = 0; i < 5000; i++)
		map(w, "/lib/x.so");
	program = map(w, "/usr/bin/php8.2");
	assert_ptr_equal(host(w, engine), program);
	assert_ptr_equal(host(w, NULL), program);
}

/* A server's workers inherit the library; another program does not. */
CASE_WITH(test_fork_and_exec, setup, teardown)
{
	struct world *w = *state;
	const struct module *library = map(w, "/usr/lib/apache2/modules/libphp8.2.so");
	const struct jitbpf_task fork = {
		.h = {.type = JITBPF_FORK, .size_bytes = sizeof(fork), .time_ns = 100},
		.pid = PID + 1,
		.tid = PID + 1,
		.parent_pid = PID,
	};
	const struct jitbpf_comm exec = {
		.h = {.type = JITBPF_COMM,
		      .size_bytes = sizeof(exec),
		      .flags = JITBPF_COMM_EXEC,
		      .time_ns = 200},
		.pid = PID + 1,
		.tid = PID + 1,
	};

	assert_int_equal(process_table_fork(&w->processes, &fork), 0);
	w->process = process_table_find(&w->processes, PID + 1, 0, 150);
	w->loaded_ns = 150;
	assert_ptr_equal(host(w, NULL), library);
	assert_int_equal(process_table_comm(&w->processes, &exec), 0);
	assert_ptr_equal(host(w, NULL), library); /* code of the program before */
	w->loaded_ns = 250;
	assert_null(host(w, NULL));
}

/* The agent's code is the virtual machine's, whatever else the process runs. */
CASE_WITH(test_agent, setup, teardown)
{
	static const struct {
		const char *name;
		enum engine_frames frames;
	} cases[] = {
		{"Interpreter", ENGINE_FRAMES_INTERPRETER},
		{"A.run", ENGINE_FRAMES_ONE},
		{"cont_returnBarrier", ENGINE_FRAMES_RETURNED_TO},
		{"itable stub", ENGINE_FRAMES_ANY},
	};
	const struct code_claim claim = {.origin.publisher = JITBPF_PUBLISHER_JVMTI};
	struct world *w = *state;

	map(w, "/usr/bin/php8.2");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct code_region region = {
			.name = cases[i].name, .claims = &claim, .claim_count = 1};
		struct engine_host found = engine_host_find(w->process, &w->modules, &region);

		assert_int_equal(found.frames, cases[i].frames);
		assert_int_equal(engine_host_frames(&region), cases[i].frames);
		assert_null(found.module);
	}
}

/* A server that runs PHP and Python: PHP's plug-in belongs to PHP, other code to neither. */
CASE_WITH(test_two_runtimes, setup, teardown)
{
	struct world *w = *state;
	const struct module *php, *plugin, *numba;

	map(w, "/usr/bin/uwsgi-core");
	map(w, "/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0");
	php = map(w, "/usr/lib/libphp8.2.so");
	map(w, "/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0");
	plugin = map(w, "/usr/lib/php/20220829/opcache.so");
	numba = map(w, "/usr/lib/llvmlite/libllvmlite.so");
	assert_ptr_equal(host(w, plugin), php);
	assert_ptr_equal(host(w, NULL), php);
	assert_null(host(w, numba));
}
