/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/outputs/output_file.h"
#include "agent/outputs/output_opener.h"
#include "base/scope.h"
#include "tests/unit/cases.h"

/* Each test runs in an empty directory. */
static int setup(void **state)
{
	char folder[] = "/tmp/jitbpf-unit-XXXXXX";

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

	assert_int_equal(output_file_open(path, -1, &file), 0);
	assert_int_equal(output_file_begin(file.fd, &file.stale), 0);
	assert_int_equal(write(file.fd, "new", 3), 3);
	if (publish) {
		assert_int_equal(output_file_publish(&file), 0);
		assert_int_equal(output_file_publish(&file), 0);
	}
	close(file.fd);
	output_file_deinit(&file);
}

CASE_WITH(what_is_published_takes_the_place, setup, teardown)
{
	put("old", "what was there");
	write_new("old", true);
	check("old", "new");
	write_new("./fresh", true);
	check("fresh", "new");
	assert_int_equal(entries(), 2);
}

CASE_WITH(what_is_not_published_was_never_there, setup, teardown)
{
	put("old", "what was there");
	write_new("old", false);
	check("old", "what was there");
	write_new("fresh", false);
	assert_int_equal(entries(), 1);
}

CASE_WITH(a_published_file_can_be_written_on, setup, teardown)
{
	struct output_file file;

	put("old", "what was there");
	assert_int_equal(output_file_open("old", -1, &file), 0);
	assert_int_equal(write(file.fd, "a", 1), 1);
	check("old", "what was there");
	assert_int_equal(output_file_publish(&file), 0);
	check("old", "a");
	assert_int_equal(write(file.fd, "b", 1), 1);
	check("old", "ab");
	close(file.fd);
	output_file_deinit(&file);
}

/* Publish "new" as out, and keep the file that is there. Returns the error. */
static int publish_keeping(bool *ret_kept)
{
	struct output_file file;
	int err;

	assert_int_equal(output_file_open("out", -1, &file), 0);
	file.keeps_old = true;
	assert_int_equal(write(file.fd, "new", 3), 3);
	err = output_file_publish(&file);
	*ret_kept = file.kept_old;
	close(file.fd);
	output_file_deinit(&file);
	return err;
}

CASE_WITH(the_file_before_is_kept, setup, teardown)
{
	bool kept;

	assert_int_equal(publish_keeping(&kept), 0);
	assert_false(kept); /* there was none */
	assert_int_equal(entries(), 1);
	put("out", "before");
	put("out.old", "long before");
	assert_int_equal(publish_keeping(&kept), 0);
	assert_true(kept);
	check("out", "new");
	check("out.old", "before");
	assert_int_equal(entries(), 2);
	assert_int_equal(unlink("out.old"), 0);
	assert_int_equal(link("out", "out.old"), 0); /* one file with both names */
	assert_int_equal(publish_keeping(&kept), 0);
	check("out.old", "new");
	assert_int_equal(entries(), 2);
}

CASE_WITH(what_is_kept_follows_no_link, setup, teardown)
{
	bool kept;

	put("out", "before");
	put("target", "untouched");
	assert_int_equal(symlink("target", "out.old"), 0);
	assert_int_equal(publish_keeping(&kept), 0);
	check("target", "untouched");
	check("out.old", "before");
	check("out", "new");
	assert_int_equal(entries(), 3);
}

CASE_WITH(a_file_that_cannot_be_kept_stays, setup, teardown)
{
	bool kept;

	put("out", "before");
	assert_int_equal(mkdir("out.old", 0700), 0);
	assert_int_not_equal(publish_keeping(&kept), 0);
	check("out", "before");
	assert_int_equal(entries(), 2);
	assert_int_equal(rmdir("out.old"), 0);
}

CASE_WITH(nothing_is_inherited, setup, teardown)
{
	struct stat st;

	put("old", "");
	assert_int_equal(chmod("old", 0666), 0);
	umask(0);
	write_new("old", true);
	assert_int_equal(stat("old", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	write_new("fresh", true);
	assert_int_equal(stat("fresh", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

CASE_WITH(links_stay_links, setup, teardown)
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

CASE_WITH(a_fifo_is_written_as_it_is, setup, teardown)
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

/* --- through the process ------------------------------------------------------------ */

static void open_process(struct output_opener **ret, const char *const *paths, size_t count,
			 bool series)
{
	static const struct invoking_user us;
	static struct invoking_user user;
	const struct output_paths declared = {.paths = paths, .count = count, .series = series};

	user = us;
	user.uid = geteuid();
	assert_int_equal(output_opener_create(&user, &declared, ret), 0);
}

CASE_WITH(an_open_descriptor_is_written_where_it_is, setup, teardown)
{
	struct output_opener *opener;
	struct opened_output opened;
	char path[32];
	int fd = open("held", O_RDWR | O_CREAT, 0600);

	open_process(&opener, NULL, 0, false);
	assert_int_equal(write(fd, "before ", 7), 7);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	assert_int_equal(output_opener_open(opener, path, &opened), 0);
	assert_int_equal(write(opened.fd, "new", 3), 3);
	assert_int_equal(output_opener_publish(opener, &opened), 0);
	output_opener_forget(opener, &opened);
	close(opened.fd);
	check("held", "before new");
	close(fd);
	assert_int_equal(output_opener_open(opener, path, &opened), -EBADF);
	fd = open("held", O_RDONLY);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(output_opener_open(opener, path, &opened), -EBADF);
	close(fd);
	output_opener_destroy(opener);
}

CASE_WITH(the_process_serves_declared_paths_only, setup, teardown)
{
	const char *const paths[] = {"one", "two"};
	struct output_opener *opener;
	struct opened_output one, two;

	put("one", "what was there");
	open_process(&opener, paths, 2, false);
	assert_int_equal(output_opener_open(opener, "three", &one), -EINVAL);
	assert_int_equal(output_opener_open(opener, "one", &one), 0);
	assert_int_equal(output_opener_open(opener, "two", &two), 0);
	assert_string_not_equal(one.place, two.place);
	assert_true(one.replaces);
	assert_int_equal(write(one.fd, "new", 3), 3);
	check("one", "what was there");
	assert_int_equal(output_opener_publish(opener, &one), 0);
	assert_int_equal(output_opener_publish(opener, &one), 0);
	check("one", "new");
	output_opener_forget(opener, &one);
	output_opener_forget(opener, &two);
	assert_int_equal(output_opener_delete(opener, one.number), -ENOENT);
	assert_int_equal(output_opener_retain(opener, &one), -EINVAL);
	close(one.fd);
	close(two.fd);
	output_opener_destroy(opener);
	assert_int_equal(entries(), 1);
}

CASE_WITH(files_of_a_series_are_deleted_by_number, setup, teardown)
{
	const char *const paths[] = {"./run.jitbpf"};
	struct output_opener *opener;
	struct opened_output first, second;

	open_process(&opener, paths, 1, true);
	assert_int_equal(output_opener_open(opener, paths[0], &first), 0);
	usleep(2000); /* names have milliseconds */
	assert_int_equal(output_opener_open(opener, paths[0], &second), 0);
	assert_int_equal(output_opener_publish(opener, &first), 0);
	assert_int_equal(output_opener_publish(opener, &second), 0);
	assert_int_equal(output_opener_retain(opener, &first), 0);
	assert_int_equal(output_opener_retain(opener, &second), 0);
	assert_int_equal(entries(), 2);
	assert_int_equal(output_opener_delete(opener, first.number), 0);
	assert_int_equal(output_opener_delete(opener, first.number), -ENOENT);
	assert_int_equal(access(first.name, F_OK), -1);
	/* another file has its name: it stays */
	assert_int_equal(rename(second.name, "moved"), 0);
	put(second.name, "another");
	assert_int_equal(output_opener_delete(opener, second.number), 0);
	check(second.name, "another");
	close(first.fd);
	close(second.fd);
	output_opener_destroy(opener);
}

/* --- errors ---------------------------------------------------------------------------- */

CASE_WITH(the_same_place_twice_is_noticed, setup, teardown)
{
	struct output_file a, b, c;

	assert_int_equal(output_file_open("x", -1, &a), 0);
	assert_int_equal(output_file_open("./x", -1, &b), 0);
	assert_int_equal(output_file_open("y", -1, &c), 0);
	assert_string_equal(a.place, b.place);
	assert_string_not_equal(a.place, c.place);
	close(a.fd);
	close(b.fd);
	close(c.fd);
	output_file_deinit(&a);
	output_file_deinit(&b);
	output_file_deinit(&c);
}

CASE_WITH(what_cannot_be_opened_is_said, setup, teardown)
{
	struct output_file file;

	assert_int_equal(symlink("loop", "loop"), 0);
	assert_int_equal(output_file_open("loop", -1, &file), -ELOOP);
	assert_int_equal(output_file_open("no/such/folder", -1, &file), -ENOENT);
	assert_int_equal(output_file_open("", -1, &file), -ENOENT);
	assert_int_equal(output_file_open(".", -1, &file), -EISDIR);
}
