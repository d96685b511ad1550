/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * readers FILE: names and unwind rows of an ELF file by reader processes, and the same in this
 * process. Prints one figure a line: CPU time of all processes, in us for each start, request of
 * an address that is known already, and page of rows.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/files/helper/file_blob.h"
#include "agent/files/helper/file_service.h"
#include "agent/readers/name_reader.h"
#include "agent/readers/reader_service.h"
#include "agent/readers/rows_reader.h"
#include "agent/roles/broker.h"
#include "agent/roles/fd_message.h"
#include "base/scope.h"
#include "decode/elf/elf_file.h"
#include "uapi/unwind.h"

#define STARTS	   50
#define LOCATIONS  1000
#define STEP_BYTES 160 /* between two locations */
#define ROUNDS	   40

static struct module module = {.number = 1};
static uint64_t text_offset;
static uint32_t page_count;

static void require(bool ok)
{
	if (!ok)
		abort();
}

static int open_module(void *context, const struct module *of, struct blob *ret)
{
	return file_blob_open_path(ret, of->path);
}

static int no_debug(void *context, const struct module *of, const char *path, bool ours,
		    struct blob *ret)
{
	return -ENOENT;
}

static const struct file_source files = {.open_module = open_module, .open_debug = no_debug};

static void find_text(void)
{
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};
	CLEANUP(blob_close) struct blob blob = {0};
	const struct elf_section *text;

	require(!open_module(NULL, &module, &blob) && !elf_file_init(&elf, &blob));
	text = elf_file_section(&elf, ".text");
	require(text && text->size_bytes > LOCATIONS * STEP_BYTES);
	text_offset = text->file_offset;
	page_count = (uint32_t)(text->size_bytes >> UNWIND_PAGE_SHIFT);
	require(page_count);
}

static double used_us(int who)
{
	struct rusage used;

	getrusage(who, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* Returns the CPU time until now, without processes that live. */
static double cpu_us(void)
{
	return used_us(RUSAGE_SELF) + used_us(RUSAGE_CHILDREN);
}

/* --- starts ------------------------------------------------------------------------------- */

static void serve_nothing(int socket)
{
	int none;
	char byte;

	fd_message_send(socket, "!", 1, -1);
	fd_message_receive(socket, &byte, 1, &none);
}

/* Start processes of a role, each of which answers once. */
static double start(enum role role, uint32_t count)
{
	static const role_fn functions[ROLE_COUNT] = {
		[ROLE_OPENER] = serve_nothing,
		[ROLE_READER] = serve_nothing,
	};
	double began_us = cpu_us();
	struct broker broker;

	require(!broker_start(functions, &broker));
	for (uint32_t i = 0; i < count; i++) {
		AUTO_CLOSE int socket = broker_connect(&broker, role);
		char byte;
		int none;

		/* The process of the one before may not have been reaped yet. */
		if (socket < 0 || fd_message_receive(socket, &byte, 1, &none) != 1)
			i--;
	}
	broker_stop(&broker);
	return cpu_us() - began_us;
}

/* --- requests ----------------------------------------------------------------------------- */

static double name_all(const struct symbol_namer *namer, uint32_t rounds)
{
	double began_us = cpu_us();

	for (uint32_t i = 0; i < rounds * LOCATIONS; i++) {
		struct symbol_frame frames[SYMBOL_FRAMES_MAX];
		uint32_t count;

		struct symbol_request requests[READER_NAMES_MAX];

		for (uint32_t next = 0; next < READER_NAMES_MAX; next++)
			requests[next] = (struct symbol_request){
				.kind = LOCATION_NATIVE,
				.offset = text_offset + (i + next) % LOCATIONS * STEP_BYTES,
				.module = &module,
			};
		require(!namer->name(namer->context, requests, READER_NAMES_MAX, frames, &count));
	}
	return cpu_us() - began_us;
}

static int name_here(void *context, const struct symbol_request *requests, size_t count,
		     struct symbol_frame frames[SYMBOL_FRAMES_MAX], uint32_t *ret_count)
{
	return symbolizer_native(context, requests[0].module, requests[0].offset, frames,
				 ret_count);
}

static double make_rows(const struct unwind_maker *maker, uint32_t rounds)
{
	double began_us = cpu_us();

	for (uint32_t i = 0; i < rounds * page_count; i++) {
		struct unwind_rows rows = {0};

		require(!maker->page(maker->context, &module,
				     (uint32_t)(text_offset >> UNWIND_PAGE_SHIFT) + i % page_count,
				     false, &rows));
		unwind_rows_deinit(&rows);
	}
	return cpu_us() - began_us;
}

static double here(uint32_t rounds, bool names)
{
	double began_us = cpu_us();

	if (names) {
		struct symbol_namer namer = {.name = name_here};
		struct symbolizer *symbolizer;

		require(!symbolizer_create(&files, &symbolizer));
		namer.context = symbolizer;
		name_all(&namer, rounds);
		symbolizer_destroy(symbolizer);
	} else {
		struct unwind_files *unwinding;
		struct unwind_maker maker;

		require(!unwind_files_create(&files, &unwinding, &maker));
		make_rows(&maker, rounds);
		unwind_files_destroy(unwinding);
	}
	return cpu_us() - began_us;
}

static double by_reader(uint32_t rounds, bool names)
{
	static const role_fn functions[ROLE_COUNT] = {[ROLE_READER] = reader_service_run};
	_Atomic uint64_t failures = 0;
	struct broker broker;
	const struct reader_options options = {
		.broker = &broker,
		.files = files,
		.answer_ms = 10000,
		.failures = &failures,
	};
	double began_us = cpu_us();

	require(!broker_start(functions, &broker));
	if (names) {
		struct name_reader *reader;
		struct symbol_namer namer;

		require(!name_reader_create(&options, &(struct kernel_source){0}, &reader, &namer));
		name_all(&namer, rounds);
		name_reader_destroy(reader);
	} else {
		struct rows_reader *reader;
		struct unwind_maker maker;

		require(!rows_reader_create(&options, &reader, &maker));
		make_rows(&maker, rounds);
		rows_reader_destroy(reader);
	}
	broker_stop(&broker); /* adds the CPU time of its processes to that of our children */
	require(!failures);
	return cpu_us() - began_us;
}

/* What more rounds take, without what the start and the first round take. */
static double each(double (*run)(uint32_t rounds, bool names), bool names)
{
	double few = run(1, names), many = run(1 + ROUNDS, names);

	return (many - few) / (ROUNDS * (names ? LOCATIONS : page_count));
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	module.path = argv[1];
	find_text();
	printf("start_reader_us %.2f\n",
	       (start(ROLE_READER, STARTS) - start(ROLE_READER, 0)) / STARTS);
	printf("start_opener_us %.2f\n",
	       (start(ROLE_OPENER, STARTS) - start(ROLE_OPENER, 0)) / STARTS);
	printf("start_broker_us %.2f\n", start(ROLE_READER, 0));
	printf("name_here_us %.3f\n", each(here, true));
	printf("name_reader_us %.3f\n", each(by_reader, true));
	printf("page_here_us %.3f\n", each(here, false));
	printf("page_reader_us %.3f\n", each(by_reader, false));
	return 0;
}
