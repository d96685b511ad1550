/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/outputs/recording_copies.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/quiet_thread.h"
#include "agent/server/server_message.h"
#include "agent/server/socket_send.h"
#include "base/scope.h"

#define STEP_NAMES  4096 /* locations whose names are written in a round */
#define PIECE_BYTES (256u << 10)
#define WAIT_MS	    10

struct recording_copy {
	int socket;
	int file; /* a duplicate, since a rotation closes the recorder's; -1: not begun */
	uint64_t file_bytes; /* of the file, with which the copy begins */
	uint32_t epoch;
	struct recording_end *end; /* until it is complete */
	FILE *end_out;		   /* writes end_text */
	char *end_text;
	size_t end_bytes;
	pthread_t thread;
	bool sending; /* the thread was started */
	atomic_bool done;
};

struct recording_copies {
	struct pipeline *pipeline;
	struct recording_copy *copies[SERVER_RECORDINGS_MAX];
	size_t count;
};

/* --- the thread ---------------------------------------------------------------------------- */

static int send_file(const struct recording_copy *copy)
{
	AUTO_FREE char *piece = malloc(PIECE_BYTES);
	int err = piece ? 0 : -ENOMEM;

	for (uint64_t at = 0; at < copy->file_bytes && !err;) {
		uint64_t left = copy->file_bytes - at;
		ssize_t got = pread(copy->file, piece, left < PIECE_BYTES ? left : PIECE_BYTES,
				    (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) /* somebody truncated the file */
			return got ? -errno : -EIO;
		err = socket_send(copy->socket, piece, (size_t)got, 0);
		at += (uint64_t)got;
	}
	return err;
}

/* The browser compares the size with what it gets. */
static void *send_copy(void *copy_)
{
	struct recording_copy *copy = copy_;
	uint64_t size_bytes = htole64(copy->file_bytes + copy->end_bytes);

	if (!socket_send(copy->socket, &size_bytes, sizeof(size_bytes), MSG_MORE) &&
	    !send_file(copy))
		socket_send(copy->socket, copy->end_text, copy->end_bytes, 0);
	shutdown(copy->socket, SHUT_WR);
	copy->done = true;
	return NULL;
}

/* --- copies -------------------------------------------------------------------------------- */

static void free_copy(struct recording_copy *copy)
{
	if (copy->sending)
		pthread_join(copy->thread, NULL);
	recording_end_destroy(copy->end);
	if (copy->end_out)
		fclose(copy->end_out);
	free(copy->end_text);
	if (copy->file >= 0)
		close(copy->file);
	close(copy->socket);
	free(copy);
}

static bool is_readable(int fd)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	       (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR;
}

static int begin(struct recording_copy *copy, const struct view *view,
		 const struct written_recording *now)
{
	if (!now->recorder || !is_readable(now->fd))
		return -ENOENT;
	copy->end_out = open_memstream(&copy->end_text, &copy->end_bytes);
	copy->file = fcntl(now->fd, F_DUPFD_CLOEXEC, 0);
	if (!copy->end_out || copy->file < 0)
		return -ENOMEM;
	copy->epoch = view->epoch;
	return recording_end_begin(now->recorder, view, copy->end_out, &copy->end,
				   &copy->file_bytes);
}

static int start_sending(struct recording_copy *copy)
{
	int err;

	recording_end_destroy(TAKE_PTR(copy->end));
	if (fclose(TAKE_PTR(copy->end_out)))
		return -ENOMEM;
	err = quiet_thread_start(&copy->thread, send_copy, copy);
	copy->sending = !err;
	return err;
}

/* Returns 0 or a negative errno, after which the copy is dropped. */
static int advance(struct recording_copies *copies, struct recording_copy *copy,
		   const struct written_recording *now)
{
	const struct view *view = pipeline_view(copies->pipeline);
	int state;

	if (copy->sending)
		return copy->done ? -ECANCELED : 0;
	state = copy->end ? 0 : begin(copy, view, now);
	if (!state && copy->epoch != view->epoch) /* --rotate has begun another recording */
		state = -ESTALE;
	state = state
			?: recording_end_step(copy->end, view, pipeline_modules(copies->pipeline),
					      STEP_NAMES);
	if (state > 0)
		return 0;
	return state ?: start_sending(copy);
}

void recording_copies_round(struct recording_copies *copies, const struct written_recording *now)
{
	size_t kept = 0;

	for (size_t i = 0; i < copies->count; i++) {
		struct recording_copy *copy = copies->copies[i];

		if (advance(copies, copy, now))
			free_copy(copy);
		else
			copies->copies[kept++] = copy;
	}
	copies->count = kept;
}

void recording_copies_ask(struct recording_copies *copies, int socket)
{
	struct recording_copy *copy =
		copies->count < SERVER_RECORDINGS_MAX ? calloc(1, sizeof(*copy)) : NULL;

	if (!copy) {
		close(socket);
		return;
	}
	copy->socket = socket;
	copy->file = -1;
	copies->copies[copies->count++] = copy;
}

/* --- creation ------------------------------------------------------------------------------ */

int recording_copies_create(struct pipeline *pipeline, struct recording_copies **ret)
{
	struct recording_copies *copies = calloc(1, sizeof(*copies));

	if (!copies)
		return -ENOMEM;
	copies->pipeline = pipeline;
	*ret = copies;
	return 0;
}

static bool is_sending(const struct recording_copies *copies)
{
	for (size_t i = 0; i < copies->count; i++) {
		if (copies->copies[i]->sending && !copies->copies[i]->done)
			return true;
	}
	return false;
}

void recording_copies_destroy(struct recording_copies *copies, uint32_t limit_ms)
{
	if (!copies)
		return;
	for (uint32_t ms = 0; ms < limit_ms && is_sending(copies); ms += WAIT_MS)
		poll(NULL, 0, WAIT_MS);
	for (size_t i = 0; i < copies->count; i++) {
		shutdown(copies->copies[i]->socket, SHUT_RDWR);
		free_copy(copies->copies[i]);
	}
	free(copies);
}
