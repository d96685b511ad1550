/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scope.h"
#include "cli/output_file.h"

/* Each test runs in an empty directory. */
static int setup(void **state)
{
	char folder[] = "/tmp/jitbpf-unit-XXXXXX";

	unsetenv("SUDO_UID"); /* otherwise files change their owner */
	return !mkdtemp(folder) || chdir(folder);
}

static int teardown(void **state)
{
	AUTO_FREE char *folder = realpath(".", NULL);
	DIR *dir = opendir(".");

	for (struct dirent *entry; dir && (entry = readdir(dir));)
		unlink(entry->d_name);
	closedir(dir);
	return chdir("/") || rmdir(folder);
}

static void put(const char *path, const char *text)
{
	AUTO_FCLOSE FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
}

static void check(const char *path, const char *text)
{
	AUTO_FCLOSE FILE *file = fopen(path, "r");
	char found[64] = "";

	assert_non_null(file);
	found[fread(found, 1, sizeof(found) - 1, file)] = 0;
	assert_string_equal(found, text);
}

static int entries(void)
{
	DIR *dir = opendir(".");
	int count = 0;

	while (readdir(dir))
		count++;
	closedir(dir);
	return count - 2;
}

/* Write "new" to an output file. */
static void write_new(const char *path, bool publish)
{
	struct output_file file;

	assert_int_equal(output_file_open(path, &file), 0);
	assert_int_equal(output_file_begin(&file), 0);
	assert_int_equal(write(file.fd, "new", 3), 3);
	if (publish) {
		assert_int_equal(output_file_publish(&file), 0);
		assert_int_equal(output_file_publish(&file), 0);
	}
	close(file.fd);
	output_file_deinit(&file);
}

static void what_is_published_takes_the_place(void **state)
{
	put("old", "what was there");
	write_new("old", true);
	check("old", "new");
	write_new("./fresh", true);
	check("fresh", "new");
	assert_int_equal(entries(), 2);
}

static void what_is_not_published_was_never_there(void **state)
{
	put("old", "what was there");
	write_new("old", false);
	check("old", "what was there");
	write_new("fresh", false);
	assert_int_equal(entries(), 1);
}

static void a_published_file_can_be_written_on(void **state)
{
	struct output_file file;

	put("old", "what was there");
	assert_int_equal(output_file_open("old", &file), 0);
	assert_int_equal(write(file.fd, "a", 1), 1);
	check("old", "what was there");
	assert_int_equal(output_file_publish(&file), 0);
	check("old", "a");
	assert_int_equal(write(file.fd, "b", 1), 1);
	check("old", "ab");
	close(file.fd);
	output_file_deinit(&file);
}

static void others_may_do_with_it_what_they_might_before(void **state)
{
	struct stat st;

	put("old", "");
	assert_int_equal(chmod("old", 0604), 0);
	write_new("old", true);
	assert_int_equal(stat("old", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0604);
	umask(027);
	write_new("fresh", true);
	assert_int_equal(stat("fresh", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
}

static void links_stay_links(void **state)
{
	struct stat st;

	put("real", "what was there");
	assert_int_equal(symlink("real", "link"), 0);
	write_new("link", true);
	assert_int_equal(symlink("nowhere", "dangling"), 0);
	write_new("dangling", true);
	check("real", "new");
	check("nowhere", "new");
	assert_int_equal(lstat("link", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(entries(), 4);
}

static void a_fifo_is_written_as_it_is(void **state)
{
	char got[8] = "";
	int fd;

	assert_int_equal(mkfifo("fifo", 0600), 0);
	fd = open("fifo", O_RDWR);
	assert_true(fd >= 0);
	write_new("fifo", true);
	assert_int_equal(read(fd, got, sizeof(got)), 3);
	close(fd);
	assert_int_equal(entries(), 1);
}

/*
 * A file named through an open descriptor is not replaced: its holder would not
 * see the new file.
 */
static void an_open_file_is_written_in_place(void **state)
{
	char path[32];
	struct output_file file;
	int fd = open("held", O_RDWR | O_CREAT, 0600);

	put("held", "what was there");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(output_file_open(path, &file), 0);
	check("held", "what was there"); /* truncated only when writing begins */
	close(file.fd);
	output_file_deinit(&file);
	write_new(path, true);
	assert_int_equal(lseek(fd, 0, SEEK_END), 3);
	close(fd);
}

static void the_same_place_twice_is_noticed(void **state)
{
	struct output_file a, b, c;

	assert_int_equal(output_file_open("x", &a), 0);
	assert_int_equal(output_file_open("./x", &b), 0);
	assert_int_equal(output_file_open("y", &c), 0);
	assert_true(output_file_same(&a, &b));
	assert_false(output_file_same(&a, &c));
	close(a.fd);
	close(b.fd);
	close(c.fd);
	output_file_deinit(&a);
	output_file_deinit(&b);
	output_file_deinit(&c);
}

static void what_cannot_be_opened_is_said(void **state)
{
	struct output_file file;

	assert_int_equal(output_file_open("no/such/folder", &file), -ENOENT);
	assert_int_equal(output_file_open("", &file), -ENOENT);
	assert_int_equal(output_file_open(".", &file), -EISDIR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(what_is_published_takes_the_place),
		TEST(what_is_not_published_was_never_there),
		TEST(a_published_file_can_be_written_on),
		TEST(others_may_do_with_it_what_they_might_before),
		TEST(links_stay_links),
		TEST(a_fifo_is_written_as_it_is),
		TEST(an_open_file_is_written_in_place),
		TEST(the_same_place_twice_is_noticed),
		TEST(what_cannot_be_opened_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
