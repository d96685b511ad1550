/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/outputs/page_recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/clock.h"
#include "base/scope.h"
#include "run/messages/say.h"
#include "sink/write/text.h"

#define CHECK_STEP_NS 100000000ull

static const char *const folders[] = {"/var/tmp", "/tmp"};

/* Returns a descriptor of a file without a name, or -1 with errno. */
static int open_unnamed(const char *folder)
{
	int fd = open(folder, O_RDWR | O_TMPFILE | O_EXCL | O_CLOEXEC, 0600);
	char path[64];

	if (fd >= 0 || errno != EOPNOTSUPP)
		return fd;
	snprintf(path, sizeof(path), "%s/jitbpf-XXXXXX", folder);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

void page_recording_open(struct page_recording *ret)
{
	AUTO_CLOSE int fd = -1;

	for (size_t i = 0; i < ARRAY_SIZE(folders) && fd < 0; i++)
		fd = open_unnamed(folders[i]);
	if (fd >= 0)
		ret->file = fdopen(fd, "w");
	if (ret->file)
		TAKE_FD(fd);
	else
		say("jitbpf: the live page cannot save a recording, since no file can be created "
		    "in /var/tmp: %s; with 'jitbpf record --live -o FILE.jitbpf' it can\n",
		    strerror(errno));
}

int page_recording_begin(struct page_recording *recording, const struct run_info *info)
{
	return recording->file ? recorder_create(recording->file, info, &recording->recorder) : 0;
}

struct recorder *page_recording_recorder(const struct page_recording *recording)
{
	return recording->ended ? NULL : recording->recorder;
}

struct written_recording page_recording_written(const struct page_recording *recording)
{
	return (struct written_recording){
		.recorder = recording->recorder,
		.fd = recording->file ? fileno(recording->file) : -1,
	};
}

static void say_end(enum disk_state state, const struct disk_limits *limits, int error,
		    struct status_line *status)
{
	CLEANUP(text_deinit) struct text text = {0};

	text_put_string(&text, "jitbpf: the recording that the live page saves ends here");
	if (error) {
		text_printf(&text, ": %s", strerror(-error));
	} else if (state == DISK_MAX_SIZE) {
		text_put_string(&text, ", with ");
		text_put_bytes(&text, limits->max_bytes, 0);
		text_put_string(&text, " (--max-size)");
	} else {
		text_put_string(&text, ": little space is left in /var/tmp (--min-free)");
	}
	text_put_string(&text, "; the page continues\n");
	status_line_clear(status);
	text_write(&text, stderr);
}

void page_recording_check(struct page_recording *recording, const struct disk_limits *limits,
			  int error, struct status_line *status)
{
	struct disk_limits bounded = *limits;
	enum disk_state state = DISK_OK;
	uint64_t now_ns, free_bytes;

	if (!page_recording_recorder(recording))
		return;
	now_ns = clock_now_ns();
	if (!error && now_ns < recording->check_ns)
		return;
	recording->check_ns = now_ns + CHECK_STEP_NS;
	bounded.max_bytes = limits->max_bytes ?: PAGE_RECORDING_MAX;
	if (!error)
		state = disk_limits_check(&bounded, fileno(recording->file),
					  recorder_bytes(recording->recorder), &free_bytes);
	recording->ended = error || state != DISK_OK;
	if (recording->ended)
		say_end(state, &bounded, error, status);
}

void page_recording_deinit(struct page_recording *recording)
{
	recorder_destroy(recording->recorder);
	if (recording->file)
		fclose(recording->file);
	*recording = (struct page_recording){0};
}
