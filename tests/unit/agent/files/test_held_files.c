/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/files/held_files.h"
#include "base/scope.h"
#include "tests/unit/cases.h"

#define SECOND_NS 1000000000ull
#define FILES	  2000
#define MEGABYTE  (1ull << 20)

static const struct owner_key root = {.uid = 0}, user = {.uid = 1000};

struct fixture {
	struct held_files held;
	uint32_t at[FILES]; /* HELD_NONE: not held */
};

static void moved(void *context, uint32_t file, uint32_t held)
{
	((struct fixture *)context)->at[file] = held;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	memset(f->at, 0xff, sizeof(f->at));
	held_files_init(&f->held, moved, f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	held_files_deinit(&f->held);
	free(f);
	return 0;
}

static void add(struct fixture *f, uint32_t file, bool lasting, uint64_t pinned_bytes,
		struct owner_key owner, uint64_t now_ns)
{
	struct held_properties properties = {.lasting = lasting, .pinned_bytes = pinned_bytes};

	held_files_add(&f->held, open("/dev/null", O_PATH | O_CLOEXEC), file, &properties, owner,
		       now_ns);
}

static uint32_t count(const struct fixture *f, uint32_t from, uint32_t to)
{
	uint32_t held = 0;

	for (; from < to; from++) {
		if (f->at[from] == HELD_NONE)
			continue;
		assert_int_equal(f->held.files.data[f->at[from]].file, from);
		held++;
	}
	return held;
}

/* Lasting files stay; others are closed some time after their last use. */
CASE_WITH(test_grace, setup, teardown)
{
	struct fixture *f = *state;

	add(f, 0, true, 0, root, 0);
	add(f, 1, false, 0, root, 0);
	add(f, 2, false, MEGABYTE, root, SECOND_NS);
	held_files_expire(&f->held, HELD_GRACE_NS);
	assert_int_equal(count(f, 0, 3), 3);
	held_files_expire(&f->held, HELD_GRACE_NS + 1);
	assert_int_equal(f->at[1], HELD_NONE);
	assert_int_equal(count(f, 0, 3), 2);
	held_files_expire(&f->held, 1000 * SECOND_NS);
	assert_int_equal(count(f, 0, 3), 1);
	assert_int_equal(f->held.pinned.used, 0);
	held_files_release(&f->held, f->at[0]);
	assert_int_equal(f->held.count.used, 0);
}

/* The files that were used last are held; a user who maps many takes none from others. */
CASE_WITH(test_count, setup, teardown)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < 50; i++)
		add(f, i, true, 0, root, i);
	for (uint32_t i = 50; i < FILES; i++)
		add(f, i, true, 0, user, i);
	assert_int_equal(f->held.files.size, f->held.count.limit);
	assert_int_equal(count(f, 0, 50), 50);
	assert_int_equal(count(f, 50, FILES), f->held.count.limit - 50);
	assert_int_equal(count(f, FILES - 100, FILES), 100);
}

/* Memory is bounded for all together, and a user who keeps much takes it from nobody. */
CASE_WITH(test_pinned, setup, teardown)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < 10; i++)
		add(f, i, false, MEGABYTE, root, i);
	for (uint32_t i = 10; i < 200; i++) {
		add(f, i, false, 3 * MEGABYTE, user, i);
		assert_true(f->held.pinned.used <= HELD_PINNED_MAX);
	}
	assert_int_equal(count(f, 0, 10), 10);
	assert_int_equal(count(f, 10, 200), (HELD_PINNED_MAX - 10 * MEGABYTE) / (3 * MEGABYTE));
	add(f, 200, false, UINT64_MAX, root, 200);
	add(f, 201, false, HELD_PINNED_MAX, root, 200);
	assert_int_equal(count(f, 200, 202), 0);
}

/* The largest owner gives way even if it is the one that adds, and has nothing to close. */
CASE_WITH(test_nothing_to_close, setup, teardown)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < 4; i++)
		add(f, i, false, 10 * MEGABYTE, (struct owner_key){.uid = i}, i);
	add(f, 4, false, 30 * MEGABYTE, user, 5);
	assert_int_equal(count(f, 0, 4), 4);
	assert_int_equal(count(f, 4, 5), 0);
}

/* A file that is deleted, or that grows, while it is held. */
CASE_WITH(test_deleted, setup, teardown)
{
	char path[] = "/tmp/jitbpf-unit-XXXXXX";
	struct held_properties lasting = {.direct = true, .lasting = true},
			       memory = {.direct = true};
	AUTO_CLOSE int grown = memfd_create("grown", MFD_CLOEXEC);
	struct fixture *f = *state;
	int file = mkstemp(path);

	held_files_add(&f->held, file, 0, &lasting, user, 0);
	held_files_add(&f->held, fcntl(grown, F_DUPFD_CLOEXEC, 0), 1, &memory, user, 0);
	held_files_expire(&f->held, 100 * SECOND_NS);
	assert_int_equal(count(f, 0, 2), 1);
	assert_int_equal(unlink(path), 0);
	held_files_expire(&f->held, 100 * SECOND_NS);
	assert_int_equal(count(f, 0, 2), 0);

	held_files_add(&f->held, fcntl(grown, F_DUPFD_CLOEXEC, 0), 1, &memory, user, 0);
	assert_int_equal(fallocate(grown, 0, 0, (off_t)(HELD_PINNED_MAX + MEGABYTE)), 0);
	held_files_expire(&f->held, 1);
	assert_int_equal(count(f, 0, 2), 0);
	assert_int_equal(f->held.pinned.used, 0);
}
