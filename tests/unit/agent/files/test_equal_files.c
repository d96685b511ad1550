/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "agent/files/equal_files.h"
#include "tests/unit/cases.h"

#define SECOND_NS 1000000000ull

static const struct owner_key root = {.uid = 0, .cgroup = 1}, user = {.uid = 1000, .cgroup = 1},
			      other = {.uid = 1001, .cgroup = 1},
			      unknown = {.uid = OWNER_UNKNOWN_UID};

static int setup(void **state)
{
	static struct kept_files files;

	kept_files_init(&files);
	*state = &files;
	return 0;
}

static int teardown(void **state)
{
	kept_files_deinit(*state);
	return 0;
}

struct made {
	uint64_t inode, version;
	uint8_t build_id; /* its first byte; 0: none */
	uint32_t uid;	  /* of the file */
	bool direct, lasting, held;
	struct owner_key finder;
};

static void put(struct kept_files *files, struct made made)
{
	struct file_key key = {.inode = made.inode, .path = "/tmp/lib.so"};
	struct file_mapper mapper = {.pid = 100, .address = 0x1000, .size_bytes = 4096};
	struct kept_file file = {
		.found = {.fd = made.held ? open("/dev/null", O_PATH | O_CLOEXEC) : -1,
			  .version = made.version,
			  .owner = made.uid,
			  .direct = made.direct,
			  .flags = made.lasting ? FILE_IS_LASTING : 0,
			  .build_id = {made.build_id},
			  .build_id_bytes = made.build_id ? 20 : 0},
		.pid = 100,
	};

	assert_int_equal(kept_files_set(files, &key, &file, &mapper, made.finder, SECOND_NS), 0);
}

/* Returns the inode of the file that describes one with a build ID, or 0. */
static uint64_t found(struct kept_files *files, uint8_t build_id, uint64_t version,
		      struct owner_key owner)
{
	uint8_t bytes[JITBPF_BUILD_ID_MAX] = {build_id};
	struct equal_wanted wanted = {bytes, version, &owner, 1};
	char path[FILE_PATH_MAX];
	struct kept_file file;

	if (!equal_files_find(files, &wanted, 2 * SECOND_NS, &file, path))
		return 0;
	assert_string_equal(path, "/tmp/lib.so");
	return file.key.inode;
}

/* A file of root on a disk describes any equal file; only the build ID decides. */
CASE_WITH(test_trusted, setup, teardown)
{
	struct made of_root = {.inode = 5,
			       .version = 50,
			       .build_id = 1,
			       .direct = true,
			       .held = true,
			       .finder = user};
	struct kept_files *files = *state;

	put(files, of_root);
	assert_int_equal(found(files, 1, 0, other), 5);
	assert_int_equal(found(files, 1, 50, other), 5);
	assert_int_equal(found(files, 1, 51, other), 0);
	assert_int_equal(found(files, 2, 0, other), 0);
}

/* A user's copy of a build ID describes nothing of others. */
CASE_WITH(test_of_a_user, setup, teardown)
{
	struct made of_user = {.inode = 5,
			       .version = 50,
			       .build_id = 1,
			       .uid = 1000,
			       .direct = true,
			       .held = true,
			       .finder = user};
	struct owner_key elsewhere = {.uid = 1000, .cgroup = 9};
	struct kept_files *files = *state;

	put(files, of_user);
	assert_int_equal(found(files, 1, 0, user), 5);
	assert_int_equal(found(files, 1, 0, elsewhere), 5);
	assert_int_equal(found(files, 1, 0, other), 0);
	assert_int_equal(found(files, 1, 0, root), 0);
}

/* On a file system that a user may serve, who owns a file says nothing. */
CASE_WITH(test_served, setup, teardown)
{
	struct made served = {
		.inode = 5, .version = 50, .build_id = 1, .held = true, .finder = user};
	struct owner_key container = {.uid = 0, .cgroup = 9};
	struct kept_files *files = *state;

	put(files, served);
	assert_int_equal(found(files, 1, 0, user), 5);
	assert_int_equal(found(files, 1, 0, root), 0);
	assert_int_equal(found(files, 1, 0, other), 0);
	served.finder = container;
	put(files, served); /* found again, in a container */
	assert_int_equal(found(files, 1, 0, container), 5);
	assert_int_equal(found(files, 1, 0, root), 0);
	assert_int_equal(found(files, 1, 0, user), 0);
	served.finder = unknown;
	put(files, served);
	assert_int_equal(found(files, 1, 0, unknown), 0);
}

/* An open file comes before a linked one, and one that is neither may be gone. */
CASE_WITH(test_that_can_be_opened, setup, teardown)
{
	struct made file = {.inode = 5, .version = 50, .build_id = 1, .direct = true};
	struct kept_files *files = *state;

	put(files, file);
	assert_int_equal(found(files, 1, 0, user), 0);
	file.inode = 6;
	file.lasting = true;
	put(files, file);
	assert_int_equal(found(files, 1, 0, user), 6);
	file.inode = 7;
	file.held = true;
	put(files, file);
	assert_int_equal(found(files, 1, 0, user), 7);
}

/* An inode whose file was replaced, and files that are removed, keep no build ID. */
CASE_WITH(test_changes, setup, teardown)
{
	struct made file = {.inode = 5, .version = 50, .build_id = 1, .direct = true, .held = true};
	struct module_table modules = {0};
	struct kept_files *files = *state;

	put(files, file);
	file.version = 51;
	file.build_id = 2;
	put(files, file);
	assert_int_equal(found(files, 1, 0, user), 0);
	assert_int_equal(found(files, 2, 0, user), 5);
	file.version = 0; /* not found any more */
	file.held = false;
	put(files, file);
	assert_int_equal(found(files, 2, 0, user), 0);
	for (uint64_t inode = 100; inode < 1100; inode++)
		put(files, (struct made){.inode = inode,
					 .version = inode,
					 .build_id = (uint8_t)(1 + inode % 3),
					 .direct = true,
					 .lasting = true});
	kept_files_forget(files, &modules, FILE_KEEP_NS + 100 * SECOND_NS);
	assert_int_equal(files->files.size, 0);
	assert_int_equal(files->build_ids.size, 0);
	assert_int_equal(found(files, 1, 0, user), 0);
}
