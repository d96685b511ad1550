/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The publisher's rounds over files that this process writes. */
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/publisher/publisher.h"
#include "base/scope.h"
#include "decode/record/code_event.h"
#include "tests/unit/agent/made_patience.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/made_jitdump.h"

#define LOADS_MAX  64
#define FILES_MAX  20
#define ROUNDS_MAX 5000 /* on a busy machine an answer of a helper process may come too late */
#define SEC	   1000000000ull
#define TURNS	   50 /* many: time, not their number, ends a wait */

struct dump {
	char path[96];
	int fd;
	void *marker;
};

struct run {
	char folder[32];
	void *publisher;
	struct publisher_host host;
	struct made_patience patience;
	struct dump dumps[FILES_MAX];
	struct {
		char name[16];
		uint32_t pid;
		uint64_t time_ns, sequence;
		uint32_t flags;
	} loads[LOADS_MAX];
	size_t count, codes;
	struct jitbpf_code_refused refused; /* sums */
	int fail;			    /* what the taker returns */
};

static uint32_t own_pid(void)
{
	return (uint32_t)getpid();
}

static int take(void *context, const struct jitbpf_record *record)
{
	const struct jitbpf_code_refused *refused = (const void *)record;
	struct run *run = context;
	struct code_event event;

	if (run->fail)
		return run->fail;
	run->codes += record->type == JITBPF_CODE;
	if (record->type == JITBPF_CODE_REFUSED) {
		run->refused.malformed += refused->malformed;
		run->refused.incomplete += refused->incomplete;
		run->refused.unreadable += refused->unreadable;
	}
	if (record->type != JITBPF_CODE_EVENT)
		return 0;
	assert_int_equal(code_event_decode((const void *)record, record->size_bytes, &event), 0);
	assert_true(run->count < LOADS_MAX);
	memcpy(run->loads[run->count].name, event.name.bytes, event.name.size_bytes);
	run->loads[run->count].pid = event.pid;
	run->loads[run->count].time_ns = event.time_ns;
	run->loads[run->count].sequence = event.origin.sequence;
	run->loads[run->count++].flags = event.flags;
	return 0;
}

static int setup(void **state)
{
	struct file_store_options options = {.live = true};
	struct run *run = calloc(1, sizeof(*run));
	const char *what;

	assert_non_null(run);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	strcpy(run->folder, "/tmp/jitbpf-unit-XXXXXX");
	assert_non_null(mkdtemp(run->folder));
	assert_int_equal(file_store_create(&options, &run->host.files), 0);
	run->host.came_ns = clock_now_ns() - SEC;
	assert_int_equal(publisher_jitdump.create(&run->host, &run->publisher, &what), 0);
	*state = run;
	return 0;
}

static int teardown(void **state)
{
	struct run *run = *state;

	publisher_jitdump.destroy(run->publisher);
	file_store_destroy(run->host.files);
	for (size_t i = 0; i < FILES_MAX; i++) {
		if (!run->dumps[i].marker)
			continue;
		munmap(run->dumps[i].marker, 4096);
		close(run->dumps[i].fd);
		unlink(run->dumps[i].path);
	}
	rmdir(run->folder);
	free(run);
	return 0;
}

/* Create a file with a header, and report its mapping. */
static void begin(struct run *run, size_t number, uint64_t mapped_ns)
{
	struct dump *dump = &run->dumps[number];
	AUTO_FREE struct jitbpf_mapping *mapping = calloc(1, sizeof(*mapping) + sizeof(dump->path));
	struct made_jitdump made = {0};
	char folder[sizeof(run->folder)];
	struct stat st;

	strcpy(folder, run->folder);
	snprintf(dump->path, sizeof(dump->path), "%s/jit-%zu-%u.dump", folder, number, own_pid());
	dump->fd = open(dump->path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	assert_true(dump->fd >= 0);
	made_jitdump_header(&made, own_pid(), 0);
	assert_int_equal(write(dump->fd, made.bytes, made.size_bytes), made.size_bytes);
	dump->marker = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump->fd, 0);
	assert_ptr_not_equal(dump->marker, MAP_FAILED);
	assert_int_equal(fstat(dump->fd, &st), 0);
	*mapping = (struct jitbpf_mapping){
		.h = {.size_bytes = (uint32_t)(sizeof(*mapping) + sizeof(dump->path)),
		      .type = JITBPF_MAPPING,
		      .time_ns = mapped_ns},
		.pid = own_pid(),
		.address = (uintptr_t)dump->marker,
		.size_bytes = 4096,
		.inode = st.st_ino,
		.dev_major = major(st.st_dev),
		.dev_minor = minor(st.st_dev),
	};
	strcpy(mapping->path, dump->path);
	assert_int_equal(publisher_jitdump.see(run->publisher, &mapping->h), PUBLISHER_KEEP);
}

static void load_of(struct run *run, size_t number, uint32_t pid, const char *name)
{
	struct made_jitdump made = {0};

	made_jitdump_load(&made, clock_now_ns(), pid, 0x1000, 64, name);
	assert_int_equal(write(run->dumps[number].fd, made.bytes, made.size_bytes),
			 made.size_bytes);
}

static void load(struct run *run, size_t number, const char *name)
{
	load_of(run, number, own_pid(), name);
}

/* End a round, which may stay open for some turns. */
static int end_round(struct run *run)
{
	uint64_t round_ns = clock_now_ns();
	int more = 1;

	while (more > 0)
		more = publisher_jitdump.round(run->publisher, round_ns, false, take, run);
	usleep(1000); /* a helper may wait for a CPU */
	return more;
}

/* End rounds until so many loads have come; then they are all. */
static void assert_loads(struct run *run, size_t count)
{
	for (size_t i = 0; i < ROUNDS_MAX && run->count < count; i++)
		assert_int_equal(end_round(run), 0);
	assert_int_equal(end_round(run), 0);
	assert_int_equal(run->count, count);
}

/* End rounds until the records of unknown writers were refused. */
static void assert_malformed(struct run *run, size_t count)
{
	for (size_t i = 0; i < ROUNDS_MAX && run->refused.malformed < count; i++)
		assert_int_equal(end_round(run), 0);
	assert_int_equal(run->refused.malformed, count);
}

static void task(struct run *run, enum jitbpf_record_type type, uint32_t pid, uint32_t parent)
{
	struct jitbpf_task record = {
		.h = {.size_bytes = sizeof(record), .type = type, .time_ns = clock_now_ns()},
		.pid = pid,
		.parent_pid = parent,
	};

	assert_int_equal(publisher_jitdump.see(run->publisher, &record.h), PUBLISHER_KEEP);
}

static uint64_t counter(const struct run *run, enum jitbpf_counter number)
{
	uint64_t counters[JITBPF_COUNTER_MAX] = {0};

	publisher_jitdump.count(run->publisher, counters);
	return counters[number];
}

CASE_WITH(test_rounds, setup, teardown)
{
	struct run *run = *state;

	begin(run, 0, clock_now_ns());
	load(run, 0, "first");
	assert_loads(run, 1);
	load(run, 0, "second");
	load(run, 0, "third");
	assert_loads(run, 3);
	assert_string_equal(run->loads[2].name, "third");
	assert_int_equal(run->loads[2].pid, own_pid());
	assert_int_equal(run->loads[2].flags, 0);
	assert_int_equal(run->codes, 3);
	assert_int_equal(counter(run, JITBPF_COUNT_JITDUMPS), 1);
}

/* Code from before the run has the time of its start, and no copy: it comes in the first slices. */
CASE_WITH(test_late, setup, teardown)
{
	struct run *run = *state;
	struct made_jitdump made = {0};
	int more = 1;

	begin(run, 0, run->host.came_ns);
	made_jitdump_load(&made, run->host.came_ns - SEC, own_pid(), 0x1000, 64, "old");
	assert_int_equal(write(run->dumps[0].fd, made.bytes, made.size_bytes), made.size_bytes);
	for (size_t i = 0; i < ROUNDS_MAX && more; i++) {
		more = publisher_jitdump.late(run->publisher, take, run);
		assert_true(more >= 0);
	}
	assert_int_equal(more, 0);
	assert_loads(run, 1);
	assert_int_equal(run->loads[0].time_ns, run->host.came_ns);
	assert_int_equal(run->loads[0].flags, JITBPF_EVENT_RECOVERED | JITBPF_EVENT_BEFORE_RUN);
	assert_int_equal(run->codes, 0);
}

/* Of many files those whose processes were sampled are read in each round, the others in turns. */
CASE_WITH(test_turns, setup, teardown)
{
	struct run *run = *state;

	for (size_t i = 0; i < 16; i++) {
		begin(run, i, clock_now_ns());
		load(run, i, "f");
	}
	assert_loads(run, 16);
	for (size_t i = 0; i < 16; i++)
		load(run, i, "g");
	assert_int_equal(publisher_jitdump.sampled(run->publisher, own_pid()), 0);
	assert_loads(run, 32);
}

/* Let the time of a turn pass, after which helpers are not asked. */
static void use_up_turn(struct run *run)
{
	struct timespec wait = {.tv_nsec = FILE_TURN_NS + 10000000};

	file_store_begin_turn(run->host.files);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, NULL);
}

/* A file that was not read in time keeps the round open, and is read in a later turn. */
CASE_WITH(test_open_round, setup, teardown)
{
	struct run *run = *state;
	uint64_t round_ns;
	int more = 1;

	begin(run, 0, clock_now_ns());
	load(run, 0, "f");
	assert_int_equal(publisher_jitdump.sampled(run->publisher, own_pid()), 0);
	use_up_turn(run);
	round_ns = clock_now_ns();
	assert_int_equal(publisher_jitdump.round(run->publisher, round_ns, false, take, run), 1);
	assert_int_equal(run->count, 0);
	/* A sample from now on is of the next round. */
	assert_int_equal(publisher_jitdump.sampled(run->publisher, own_pid()), 0);
	while (more > 0) {
		file_store_begin_turn(run->host.files);
		more = publisher_jitdump.round(run->publisher, round_ns, false, take, run);
	}
	assert_int_equal(more, 0);
	/* On a busy machine, that round may have ended without it. */
	for (size_t i = 0; i < ROUNDS_MAX && !run->count; i++) {
		file_store_begin_turn(run->host.files);
		assert_int_equal(end_round(run), 0);
	}
	assert_int_equal(run->count, 1);
}

/* The samples of a drain come before the mapping of the file. */
CASE_WITH(test_sampled_before_the_mapping, setup, teardown)
{
	struct run *run = *state;

	assert_int_equal(publisher_jitdump.sampled(run->publisher, own_pid()), 0);
	begin(run, 0, clock_now_ns());
	load(run, 0, "f");
	use_up_turn(run);
	assert_int_equal(publisher_jitdump.round(run->publisher, clock_now_ns(), false, take, run),
			 1);
}

/* The child inherits the code that its parent has published. */
CASE_WITH(test_forked_round, setup, teardown)
{
	struct run *run = *state;

	begin(run, 0, clock_now_ns());
	load(run, 0, "f");
	task(run, JITBPF_FORK, 4000001, own_pid());
	use_up_turn(run);
	assert_int_equal(publisher_jitdump.round(run->publisher, clock_now_ns(), false, take, run),
			 1);
	for (size_t i = 0; i < ROUNDS_MAX && !run->count; i++) {
		file_store_begin_turn(run->host.files);
		assert_int_equal(end_round(run), 0);
	}
	/* Once read, the file keeps no round open any more. */
	use_up_turn(run);
	assert_int_equal(publisher_jitdump.round(run->publisher, clock_now_ns(), false, take, run),
			 0);
}

/* By the clock of the host: of a round, and of the code from before the run. */
CASE_WITH(test_patience, setup, teardown)
{
	struct run *run = *state;
	uint64_t round_ns = clock_now_ns();

	publisher_jitdump.destroy(run->publisher);
	made_patience_init(&run->patience);
	run->host.patience = &run->patience.clock;
	assert_int_equal(publisher_jitdump.create(&run->host, &run->publisher, &(const char *){0}),
			 0);
	begin(run, 0, round_ns);
	load(run, 0, "f");
	use_up_turn(run);
	for (size_t i = 0; i < TURNS; i++)
		assert_int_equal(publisher_jitdump.late(run->publisher, take, run), 1);
	made_patience_pass(&run->patience, SEC / 2 + 1, 0);
	assert_int_equal(publisher_jitdump.late(run->publisher, take, run), 1); /* the next file */
	assert_int_equal(publisher_jitdump.late(run->publisher, take, run), 0);
	assert_int_equal(publisher_jitdump.sampled(run->publisher, own_pid()), 0);
	for (size_t i = 0; i < TURNS; i++)
		assert_int_equal(
			publisher_jitdump.round(run->publisher, round_ns, false, take, run), 1);
	made_patience_pass(&run->patience, SEC / 4 + 1, 0);
	assert_int_equal(publisher_jitdump.round(run->publisher, round_ns, false, take, run), 0);
	assert_int_equal(run->count, 0);
}

/* A file that never answers keeps one round open for a while; its names are counted as late. */
CASE_WITH(test_round_that_closes, setup, teardown)
{
	struct run *run = *state;
	uint64_t round_ns, turns = 0;

	begin(run, 0, clock_now_ns());
	load(run, 0, "f");
	usleep(30000); /* more than writing a record may take */
	assert_int_equal(publisher_jitdump.sampled(run->publisher, own_pid()), 0);
	use_up_turn(run);
	round_ns = clock_now_ns();
	while (publisher_jitdump.round(run->publisher, round_ns, false, take, run) == 1)
		turns++;
	assert_in_range(turns, 4, UINT32_MAX);
	assert_true(clock_now_ns() - round_ns >= 250000000);
	assert_int_equal(publisher_jitdump.sampled(run->publisher, own_pid()), 0);
	assert_int_equal(publisher_jitdump.round(run->publisher, clock_now_ns(), false, take, run),
			 0);
	assert_int_equal(run->count, 0);
	for (size_t i = 0; i < ROUNDS_MAX && !run->count; i++) {
		file_store_begin_turn(run->host.files);
		assert_int_equal(end_round(run), 0);
	}
	assert_int_equal(run->count, 1);
	assert_int_equal(counter(run, JITBPF_COUNT_JITDUMP_LATE), 1);
}

CASE_WITH(test_files_over_the_budget, setup, teardown)
{
	struct run *run = *state;

	for (size_t i = 0; i < 18; i++)
		begin(run, i, clock_now_ns());
	assert_int_equal(counter(run, JITBPF_COUNT_JITDUMPS_OVER_BUDGET), 2);
}

/* What the process wrote at its end is read, and a record that is cut is counted. */
CASE_WITH(test_end, setup, teardown)
{
	struct run *run = *state;

	begin(run, 0, clock_now_ns());
	load(run, 0, "first");
	assert_loads(run, 1);
	load(run, 0, "last");
	assert_int_equal(write(run->dumps[0].fd, "half", 4), 4);
	task(run, JITBPF_EXIT, own_pid(), 0);
	assert_loads(run, 2);
	assert_int_equal(run->refused.incomplete, 1);
	load(run, 0, "nobody's");
	assert_loads(run, 2); /* it is not followed any more */
}

/* An end that is seen before its mapping, as from another CPU. */
CASE_WITH(test_end_before_the_mapping, setup, teardown)
{
	struct run *run = *state;
	uint64_t mapped_ns = clock_now_ns();

	task(run, JITBPF_EXIT, own_pid(), 0);
	begin(run, 0, mapped_ns);
	load(run, 0, "only");
	assert_loads(run, 1);
	load(run, 0, "nobody's");
	assert_loads(run, 1);
}

/* A child writes records of its own, also after its parent has ended. */
CASE_WITH(test_forks, setup, teardown)
{
	struct run *run = *state;
	uint32_t child = 4000001, grandchild = 4000002, stranger = 4000003;

	begin(run, 0, clock_now_ns());
	load(run, 0, "parent's");
	assert_loads(run, 1);
	task(run, JITBPF_FORK, child, own_pid());
	task(run, JITBPF_FORK, grandchild, child);
	task(run, JITBPF_FORK, own_pid(), own_pid()); /* a thread */
	load_of(run, 0, child, "child's");
	load_of(run, 0, grandchild, "grandchild's");
	load_of(run, 0, stranger, "stranger's");
	assert_loads(run, 3);
	assert_int_equal(run->loads[1].pid, child);
	assert_int_equal(run->loads[2].pid, grandchild);
	assert_malformed(run, 1);
	task(run, JITBPF_EXIT, own_pid(), 0);
	task(run, JITBPF_EXIT, child, 0);
	load_of(run, 0, grandchild, "more");
	assert_loads(run, 4);
	task(run, JITBPF_EXIT, grandchild, 0);
	assert_loads(run, 4);
	load_of(run, 0, grandchild, "too late");
	assert_loads(run, 4);
}

/* The kernel reports a fork later than the child writes. Each writer's events have their numbers.
 */
CASE_WITH(test_record_before_its_fork, setup, teardown)
{
	struct run *run = *state;
	uint32_t child = 4000001;

	begin(run, 0, clock_now_ns());
	load(run, 0, "first");
	assert_loads(run, 1);
	load_of(run, 0, child, "child's");
	load(run, 0, "second");
	assert_int_equal(end_round(run), 0);
	assert_int_equal(run->count, 1);
	task(run, JITBPF_FORK, child, own_pid());
	assert_loads(run, 3);
	assert_int_equal(run->loads[1].pid, child);
	assert_int_equal(run->loads[1].sequence, 0);
	assert_int_equal(run->loads[2].pid, own_pid());
	assert_int_equal(run->loads[2].sequence, 1);
	assert_int_equal(run->refused.malformed, 0);
}

/* Records of strangers from before the last rounds are refused at once; others do not wait long. */
CASE_WITH(test_strangers, setup, teardown)
{
	struct run *run = *state;
	struct made_jitdump made = {0};

	begin(run, 0, clock_now_ns());
	load(run, 0, "first");
	assert_loads(run, 1);
	for (uint32_t i = 0; i < 5; i++)
		made_jitdump_load(&made, run->host.came_ns - 1, 4000001 + i, 0x1000, 64, "f");
	made_jitdump_load(&made, UINT64_MAX, 4000009, 0x1000, 64, "f");
	assert_int_equal(write(run->dumps[0].fd, made.bytes, made.size_bytes), made.size_bytes);
	assert_malformed(run, 5);
	assert_malformed(run, 6);
	load(run, 0, "last");
	assert_loads(run, 2);
}

/* The taker's error ends the run. */
CASE_WITH(test_taker_that_fails, setup, teardown)
{
	struct run *run = *state;
	int err = 0;

	begin(run, 0, clock_now_ns());
	load(run, 0, "first");
	run->fail = -EIO;
	for (size_t i = 0; i < ROUNDS_MAX && !err; i++)
		err = end_round(run);
	assert_int_equal(err, -EIO);
}

CASE_WITH(test_headers_that_are_refused, setup, teardown)
{
	static const struct {
		off_t offset;
		uint32_t word;
		enum jitbpf_counter counter;
	} cases[] = {
		{0, 0, JITBPF_COUNT_JITDUMPS_MALFORMED},
		{4, 2, JITBPF_COUNT_JITDUMPS_FORMAT},	  /* version */
		{12, 183, JITBPF_COUNT_JITDUMPS_FORMAT},  /* AArch64 */
		{20, 1, JITBPF_COUNT_JITDUMPS_MALFORMED}, /* pid */
		{32, 1, JITBPF_COUNT_JITDUMPS_CLOCK},
	};
	struct run *run = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t before = counter(run, cases[i].counter);

		begin(run, i, clock_now_ns());
		assert_int_equal(pwrite(run->dumps[i].fd, &cases[i].word, 4, cases[i].offset), 4);
		for (size_t j = 0; j < ROUNDS_MAX && counter(run, cases[i].counter) == before; j++)
			assert_int_equal(end_round(run), 0);
		assert_int_equal(counter(run, cases[i].counter), before + 1);
	}
}

/* As CPython 3.13 writes it. */
CASE_WITH(test_header_without_a_machine, setup, teardown)
{
	static const uint32_t machine = 0;
	struct run *run = *state;

	begin(run, 0, clock_now_ns());
	assert_int_equal(pwrite(run->dumps[0].fd, &machine, 4, 12), 4);
	load(run, 0, "first");
	for (size_t i = 0; i < ROUNDS_MAX && !run->count; i++)
		assert_int_equal(end_round(run), 0);
	assert_int_equal(run->count, 1);
	for (size_t i = 0; i < JITBPF_COUNTER_MAX; i++)
		assert_int_equal(counter(run, i), i == JITBPF_COUNT_JITDUMPS);
}
