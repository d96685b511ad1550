/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "agent/files/helper/file_helper.h"
#include "agent/files/kept_files.h"
#include "tests/unit/cases.h"
#include "tests/unit/state/made_mapping.h"

#define SECOND_NS 1000000000ull
#define LONG_PATH 4000

static const struct owner_key root = {.uid = 0}, user = {.uid = 1000};

static struct file_key key_of(uint64_t inode)
{
	return (struct file_key){.inode = inode, .path = "/bin/a"};
}

/* An open file, of process 100 and generation 7. */
static struct kept_file opened(uint64_t version)
{
	return (struct kept_file){
		.found = {.fd = open("/dev/null", O_PATH | O_CLOEXEC),
			  .version = version,
			  .flags = FILE_IS_LASTING},
		.generation = 7,
		.pid = 100,
	};
}

static int put(struct kept_files *files, const struct file_key *key, const struct kept_file *file,
	       struct owner_key owner, uint64_t now_ns)
{
	struct file_mapper mapper = {.pid = file->pid, .address = 0x1000, .size_bytes = 4096};

	return kept_files_set(files, key, file, &mapper, owner, now_ns);
}

static bool find(struct kept_files *files, const struct file_key *key, uint64_t now_ns,
		 struct kept_file *ret)
{
	return kept_files_find(files, key, &(struct file_mapper){.pid = 100}, now_ns, ret);
}

static int get(struct kept_files *files, const struct file_key *key, uint64_t version,
	       struct found_file *ret)
{
	struct file_mapper mappers[FILE_MAPPERS];

	return kept_files_get(files, key, version, SECOND_NS, ret, mappers);
}

/* See a file as of now. Returns true if it was known. */
static bool see(struct kept_files *files, uint64_t inode, uint64_t now_ns)
{
	struct file_key key = key_of(inode);
	struct kept_file file, known;

	if (find(files, &key, now_ns, &known))
		return true;
	file = opened(inode);
	assert_int_equal(put(files, &key, &file, root, now_ns), 0);
	return false;
}

static bool is_known(struct kept_files *files, uint64_t inode)
{
	struct file_key key = key_of(inode);
	struct found_file found = {.fd = -1};
	int err = get(files, &key, inode, &found);

	if (found.fd >= 0)
		close(found.fd);
	return !err;
}

static bool is_held(struct kept_files *files, uint64_t inode)
{
	struct file_key key = key_of(inode);
	struct found_file found = {.fd = -1};

	get(files, &key, inode, &found);
	return found.fd >= 0 && !close(found.fd);
}

/*
 * A run of weeks meets any number of files. It keeps those that a module refers to, however long
 * ago they were seen, and those that were seen lately.
 */
CASE(test_unused_are_removed)
{
	struct module_table modules = {0};
	const struct module *module;
	struct made_mapping made;
	struct kept_files files;
	uint64_t now_ns = SECOND_NS;

	kept_files_init(&files);
	see(&files, 1, now_ns);
	assert_int_equal(module_table_add(&modules, made_mapping(&made, "/bin/a", 1, ""),
					  (struct owner_key){0}, &module),
			 0);
	for (uint64_t i = 0; i < 200000; i++) {
		now_ns += SECOND_NS / 20;
		see(&files, 100 + i, now_ns);
		assert_int_equal(see(&files, 2, now_ns), i > 0);
		kept_files_forget(&files, &modules, now_ns);
		assert_true(files.files.size < 2048);
	}
	assert_true(is_known(&files, 1));
	assert_true(is_known(&files, 2));
	assert_true(is_known(&files, 100 + 199999));
	assert_true(is_known(&files, 100 + 199999 - 300));
	assert_false(is_known(&files, 100));
	assert_false(is_known(&files, 100 + 190000));
	assert_true(is_held(&files, 100 + 199999));
	assert_int_equal(files.budget.used,
			 files.files.size * (sizeof(struct kept_file) + sizeof("/bin/a")));
	assert_int_equal(files.held.files.size, files.held.count.limit);
	kept_files_deinit(&files);
	module_table_deinit(&modules);
}

/* A file that was not found in time is searched again. */
CASE(test_unanswered)
{
	struct kept_file unanswered = {.found.fd = -1, .unanswered = true}, found = opened(3);
	struct file_key key = key_of(3);
	struct kept_files files;
	struct kept_file known;

	kept_files_init(&files);
	assert_false(find(&files, &key, SECOND_NS, &known));
	assert_int_equal(put(&files, &key, &unanswered, root, SECOND_NS), 0);
	assert_true(find(&files, &key, SECOND_NS, &known));
	assert_false(kept_file_is_known(&known, 0, 0));
	assert_false(is_known(&files, 3));
	assert_int_equal(put(&files, &key, &found, root, SECOND_NS), 0);
	assert_true(find(&files, &key, SECOND_NS, &known));
	assert_true(kept_file_is_known(&known, 0, 0));
	assert_true(is_held(&files, 3));
	assert_int_equal(files.files.size, 1);
	kept_files_deinit(&files);
}

/*
 * A module whose file was not found in time has no version. Its file can be opened by its mapping,
 * and is the one that is found late, but not another one with that inode number.
 */
CASE(test_late)
{
	struct kept_file unanswered = {
		.found.fd = -1, .unanswered = true, .generation = 7, .pid = 100};
	struct kept_file found = opened(3), other = opened(4);
	struct file_mapper mappers[FILE_MAPPERS];
	struct file_key key = key_of(3);
	struct found_file known;
	struct kept_files files;

	kept_files_init(&files);
	assert_int_equal(get(&files, &key, 0, &known), -ENOENT);
	assert_int_equal(put(&files, &key, &unanswered, root, SECOND_NS), 0);
	assert_int_equal(kept_files_get(&files, &key, 0, SECOND_NS, &known, mappers), 0);
	assert_int_equal(known.fd, -1);
	assert_int_equal(mappers[0].pid, 100);
	assert_int_equal(put(&files, &key, &found, root, SECOND_NS), 0);
	assert_int_equal(get(&files, &key, 0, &known), 0);
	assert_int_equal(known.version, 3);
	assert_true(known.fd >= 0);
	close(known.fd);
	assert_int_equal(put(&files, &key, &other, root, SECOND_NS), 0);
	assert_int_equal(get(&files, &key, 0, &known), -ENOENT);
	kept_files_deinit(&files);
}

/* Mappings that were there before the run have no generation, but stay where they are. */
CASE(test_late_without_generation)
{
	struct kept_file unanswered = {.found.fd = -1, .unanswered = true, .pid = 100}, known;
	struct kept_file found = opened(3), again = opened(3);
	struct file_mapper mapper = {.pid = 100, .address = 0x1000, .size_bytes = 4096};
	struct file_key key = key_of(3);
	struct found_file ret;
	struct kept_files files;

	kept_files_init(&files);
	found.generation = again.generation = 0;
	assert_int_equal(put(&files, &key, &unanswered, root, SECOND_NS), 0);
	assert_int_equal(put(&files, &key, &found, root, SECOND_NS), 0);
	assert_int_equal(get(&files, &key, 0, &ret), -ENOENT); /* it may be another mapping */
	assert_int_equal(put(&files, &key, &unanswered, root, SECOND_NS), 0);
	assert_true(kept_files_find(&files, &key, &mapper, SECOND_NS, &known));
	assert_int_equal(put(&files, &key, &again, root, SECOND_NS), 0);
	assert_int_equal(get(&files, &key, 0, &ret), 0);
	close(ret.fd);
	kept_files_deinit(&files);
}

/* A later file with the same inode number and path is another file. */
CASE(test_reused_inode)
{
	struct kept_file first = opened(1), second = opened(2), known;
	struct file_key key = key_of(1);
	struct found_file found;
	struct kept_files files;

	kept_files_init(&files);
	assert_int_equal(put(&files, &key, &first, root, SECOND_NS), 0);
	assert_true(find(&files, &key, SECOND_NS, &known));
	assert_false(kept_file_is_known(&known, 8, 100));
	assert_int_equal(get(&files, &key, 2, &found), -ENOENT);
	assert_int_equal(get(&files, &key, 0, &found), -ENOENT);
	assert_int_equal(put(&files, &key, &second, root, SECOND_NS), 0);
	assert_int_equal(get(&files, &key, 1, &found), -ENOENT);
	assert_int_equal(get(&files, &key, 2, &found), 0);
	close(found.fd);
	assert_int_equal(files.held.files.size, 1);
	kept_files_deinit(&files);
}

/* A file that was found again is held, if it is the same one. */
CASE(test_found_again)
{
	struct kept_file closed = {.found = {.fd = -1, .version = 5}, .pid = 100};
	struct file_mapper mappers[FILE_MAPPERS];
	struct file_key key = key_of(5);
	struct found_file found;
	struct kept_files files;

	kept_files_init(&files);
	kept_files_hold(&files, &key, 5, open("/dev/null", O_PATH | O_CLOEXEC), SECOND_NS);
	assert_int_equal(put(&files, &key, &closed, root, SECOND_NS), 0);
	assert_int_equal(kept_files_get(&files, &key, 5, SECOND_NS, &found, mappers), 0);
	assert_int_equal(found.fd, -1);
	assert_int_equal(mappers[0].pid, 100);
	assert_int_equal(mappers[0].address, 0x1000);
	kept_files_hold(&files, &key, 6, open("/dev/null", O_PATH | O_CLOEXEC), SECOND_NS);
	assert_false(is_held(&files, 5));
	kept_files_hold(&files, &key, 5, open("/dev/null", O_PATH | O_CLOEXEC), SECOND_NS);
	assert_true(is_held(&files, 5));
	/* It is no file on a disk. */
	kept_files_forget(&files, &(struct module_table){0}, SECOND_NS + HELD_GRACE_NS);
	assert_true(is_held(&files, 5));
	kept_files_forget(&files, &(struct module_table){0}, 4 * SECOND_NS + HELD_GRACE_NS);
	assert_false(is_held(&files, 5));
	assert_true(is_known(&files, 5));
	kept_files_deinit(&files);
}

/* The latest processes that mapped a file are known, each once. */
CASE(test_mappers)
{
	struct kept_file file = {.found = {.fd = -1, .version = 5}, .pid = 1}, known;
	struct file_mapper mappers[FILE_MAPPERS];
	struct file_key key = key_of(5);
	struct found_file found;
	struct kept_files files;
	unsigned seen = 0;

	kept_files_init(&files);
	assert_int_equal(put(&files, &key, &file, root, SECOND_NS), 0);
	for (uint32_t i = 1; i <= 10; i++) {
		struct file_mapper mapper = {.pid = i / 2 + 1, .address = i};

		assert_true(kept_files_find(&files, &key, &mapper, SECOND_NS, &known));
		assert_false(known.is_mapped);
		assert_true(kept_files_find(&files, &key, &mapper, SECOND_NS, &known));
		assert_true(known.is_mapped);
	}
	assert_int_equal(kept_files_get(&files, &key, 5, SECOND_NS, &found, mappers), 0);
	for (size_t i = 0; i < FILE_MAPPERS; i++) {
		uint32_t latest = 2 * (mappers[i].pid - 1) + 1;

		seen |= 1u << mappers[i].pid;
		assert_int_equal(mappers[i].address, latest < 10 ? latest : 10);
	}
	assert_int_equal(seen, 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6);
	kept_files_deinit(&files);
}

/* A user who maps any number of files makes others lose none. */
CASE(test_budget)
{
	struct kept_file closed = {.found = {.fd = -1, .version = 1}};
	char path[LONG_PATH + 1] = {0};
	struct file_key key = {.path = path}, mine = key_of(1);
	struct kept_files files;
	struct kept_file known;

	memset(path, 'p', LONG_PATH);
	kept_files_init(&files);
	assert_int_equal(put(&files, &mine, &closed, root, 0), 0);
	for (uint64_t i = 0; i < 20000; i++) {
		key.inode = i;
		assert_int_equal(put(&files, &key, &closed, user, SECOND_NS + i), 0);
		assert_true(files.budget.used <= KEPT_FILES_BYTES_MAX);
	}
	assert_true(find(&files, &mine, SECOND_NS, &known));
	assert_true(find(&files, &key, SECOND_NS, &known)); /* the latest */
	key.inode = 0;
	assert_false(find(&files, &key, SECOND_NS, &known));
	assert_true(files.evicted > 10000);
	assert_true(files.files.size > KEPT_FILES_BYTES_MAX / 2 / LONG_PATH);
	kept_files_deinit(&files);
}

/* Without a descriptor, which keeps the inode, the generation decides. */
CASE(test_known)
{
	struct kept_file closed = {.found.version = 1, .generation = 7, .held = HELD_NONE};
	struct kept_file open = {.found.version = 1, .held = 0};
	struct kept_file missing = {.generation = 7, .pid = 100, .held = HELD_NONE};

	assert_true(kept_file_is_known(&closed, 7, 5));
	assert_false(kept_file_is_known(&closed, 0, 5));
	assert_false(kept_file_is_known(&closed, 8, 5));
	assert_true(kept_file_is_known(&open, 7, 5));
	assert_true(kept_file_is_known(&open, 0, 5));
	closed.is_mapped = true;
	assert_true(kept_file_is_known(&closed, 0, 5));
	assert_false(kept_file_is_known(&closed, 8, 5));
	assert_true(kept_file_is_known(&missing, 7, 100));
	assert_false(kept_file_is_known(&missing, 8, 100));
	assert_false(kept_file_is_known(&missing, 7, 101));
}

/* Without churn, nothing is looked through and nothing is removed. */
CASE(test_few_files_stay)
{
	struct module_table modules = {0};
	struct kept_files files;

	kept_files_init(&files);
	for (uint64_t i = 1; i <= 200; i++)
		see(&files, i, SECOND_NS);
	kept_files_forget(&files, &modules, 1000000 * SECOND_NS);
	assert_int_equal(files.files.size, 200);
	assert_true(is_known(&files, 1));
	kept_files_deinit(&files);
}
