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

/* See a file as of now. Returns true if it was known. */
static bool see(struct kept_files *files, uint64_t inode, uint64_t now_ns)
{
	struct file_key key = key_of(inode);
	struct found_file found = {.fd = open("/dev/null", O_PATH | O_CLOEXEC)};

	if (kept_files_find(files, &key, now_ns)) {
		close(found.fd);
		return true;
	}
	assert_int_equal(kept_files_add(files, &key, &found, now_ns), 0);
	return false;
}

static bool is_kept(struct kept_files *files, uint64_t inode)
{
	struct file_key key = key_of(inode);
	struct found_file found;
	int err = kept_files_open(files, &key, &found);

	if (!err)
		close(found.fd);
	return !err;
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

/* A file that was not found in time is known as such until it is found. */
static void test_unanswered(void **state)
{
	struct found_file found = {.fd = open("/dev/null", O_PATH | O_CLOEXEC),
				   .build_id_bytes = 3};
	struct file_key key = key_of(1);
	struct kept_files files;

	kept_files_init(&files);
	assert_int_equal(kept_files_add(&files, &key, NULL, SECOND_NS), 0);
	assert_true(kept_files_find(&files, &key, SECOND_NS)->unanswered);
	assert_false(is_kept(&files, 1));
	kept_files_answer(&files, &key, &found);
	assert_false(kept_files_find(&files, &key, SECOND_NS)->unanswered);
	assert_int_equal(kept_files_find(&files, &key, SECOND_NS)->found.build_id_bytes, 3);
	assert_true(is_kept(&files, 1));
	assert_int_equal(files.kept, 1);
	kept_files_deinit(&files);
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
