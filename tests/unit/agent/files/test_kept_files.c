/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "agent/files/kept_files.h"
#include "tests/unit/state/made_mapping.h"

#define SECOND_NS 1000000000ull

static struct file_key key_of(uint64_t inode)
{
	return (struct file_key){.inode = inode, .path = "/bin/a"};
}

/* An open file, of process 100 and generation 7. */
static struct kept_file opened(uint64_t version)
{
	return (struct kept_file){
		.found = {.fd = open("/dev/null", O_PATH | O_CLOEXEC), .version = version},
		.generation = 7,
		.pid = 100,
	};
}

/* See a file as of now. Returns true if it was known. */
static bool see(struct kept_files *files, uint64_t inode, uint64_t now_ns)
{
	struct file_key key = key_of(inode);
	struct kept_file file = opened(inode);

	if (kept_files_find(files, &key, now_ns)) {
		close(file.found.fd);
		return true;
	}
	assert_int_equal(kept_files_set(files, &key, &file, now_ns), 0);
	return false;
}

static bool is_kept(struct kept_files *files, uint64_t inode)
{
	struct file_key key = key_of(inode);
	struct found_file found = {.fd = -1};
	bool kept = !kept_files_get(files, &key, inode, &found) && found.fd >= 0;

	if (found.fd >= 0)
		close(found.fd);
	return kept;
}

/*
 * A run of weeks meets any number of files. It keeps those that a module refers to, however long
 * ago they were seen, and those that were seen lately.
 */
static void test_unused_are_removed(void **state)
{
	struct module_table modules = {0};
	const struct module *module;
	struct made_mapping made;
	struct kept_files files;
	uint64_t now_ns = SECOND_NS;

	kept_files_init(&files);
	see(&files, 1, now_ns);
	assert_int_equal(module_table_add(&modules, made_mapping(&made, "/bin/a", 1, ""), &module),
			 0);
	for (uint64_t i = 0; i < 200000; i++) {
		now_ns += SECOND_NS / 20;
		see(&files, 100 + i, now_ns);
		assert_int_equal(see(&files, 2, now_ns), i > 0);
		kept_files_forget(&files, &modules, now_ns);
		assert_true(files.files.size < 2048);
		assert_true(!kept_files_full(&files));
	}
	assert_true(is_kept(&files, 1));
	assert_true(is_kept(&files, 2));
	assert_true(is_kept(&files, 100 + 199999));
	assert_true(is_kept(&files, 100 + 199999 - 300));
	assert_false(is_kept(&files, 100));
	assert_false(is_kept(&files, 100 + 190000));
	assert_int_equal(files.path_bytes, files.files.size * sizeof("/bin/a"));
	assert_int_equal(files.kept, files.files.size);
	kept_files_deinit(&files);
	module_table_deinit(&modules);
}

/* A file that was not found in time is searched again. */
static void test_unanswered(void **state)
{
	struct kept_file unanswered = {.found.fd = -1, .unanswered = true}, found = opened(3);
	struct file_key key = key_of(3);
	struct kept_files files;

	kept_files_init(&files);
	assert_int_equal(kept_files_set(&files, &key, &unanswered, SECOND_NS), 0);
	assert_false(kept_file_is_known(kept_files_find(&files, &key, SECOND_NS), 0, 0));
	assert_false(is_kept(&files, 3));
	assert_int_equal(kept_files_set(&files, &key, &found, SECOND_NS), 0);
	assert_true(kept_file_is_known(kept_files_find(&files, &key, SECOND_NS), 0, 0));
	assert_true(is_kept(&files, 3));
	assert_int_equal(files.kept, 1);
	assert_int_equal(files.files.size, 1);
	kept_files_deinit(&files);
}

/* A later file with the same inode number and path is another file. */
static void test_reused_inode(void **state)
{
	struct kept_file first = opened(1), second = opened(2);
	struct file_key key = key_of(1);
	struct found_file found;
	struct kept_files files;

	kept_files_init(&files);
	assert_int_equal(kept_files_set(&files, &key, &first, SECOND_NS), 0);
	assert_false(kept_file_is_known(kept_files_find(&files, &key, SECOND_NS), 8, 100));
	assert_int_equal(kept_files_get(&files, &key, 2, &found), -ENOENT);
	assert_int_equal(kept_files_get(&files, &key, 0, &found), -ENOENT);
	assert_int_equal(kept_files_set(&files, &key, &second, SECOND_NS), 0);
	assert_int_equal(kept_files_get(&files, &key, 1, &found), -ENOENT);
	assert_int_equal(kept_files_get(&files, &key, 2, &found), 0);
	close(found.fd);
	assert_int_equal(files.kept, 1);
	kept_files_deinit(&files);
}

/* Without a descriptor, which keeps the inode, the generation decides. */
static void test_known(void **state)
{
	struct kept_file closed = {.found = {.fd = -1, .version = 1}, .generation = 7};
	struct kept_file open = {.found = {.fd = 0, .version = 1}};
	struct kept_file missing = {.found.fd = -1, .generation = 7, .pid = 100};

	assert_true(kept_file_is_known(&closed, 7, 5));
	assert_false(kept_file_is_known(&closed, 0, 5));
	assert_false(kept_file_is_known(&closed, 8, 5));
	assert_true(kept_file_is_known(&open, 7, 5));
	assert_true(kept_file_is_known(&open, 0, 5));
	assert_true(kept_file_is_known(&missing, 7, 100));
	assert_false(kept_file_is_known(&missing, 8, 100));
	assert_false(kept_file_is_known(&missing, 7, 101));
}

/* Without churn, nothing is looked through and nothing is removed. */
static void test_few_files_stay(void **state)
{
	struct module_table modules = {0};
	struct kept_files files;

	kept_files_init(&files);
	for (uint64_t i = 1; i <= 200; i++)
		see(&files, i, SECOND_NS);
	kept_files_forget(&files, &modules, 1000000 * SECOND_NS);
	assert_int_equal(files.files.size, 200);
	assert_true(is_kept(&files, 1));
	kept_files_deinit(&files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unused_are_removed),
		cmocka_unit_test(test_few_files_stay),
		cmocka_unit_test(test_unanswered),
		cmocka_unit_test(test_reused_inode),
		cmocka_unit_test(test_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
