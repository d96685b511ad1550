/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/server/live_streams.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/quiet_thread.h"
#include "agent/server/server_message.h"
#include "agent/server/socket_send.h"
#include "base/scope.h"
#include "base/vec.h"

#define QUEUE_BYTES (16u << 20) /* deltas are shared between the queues */
#define STEP_MS	    10

struct live_stream {
	struct live_reader *reader;
	int socket;
	pthread_t thread;
	atomic_bool done;
};

struct live_streams {
	struct live_feed *feed;
	VEC(struct live_stream *) live;
	uint64_t dropped; /* count of the streams that were released */
};

/* NULL: the end of the run. */
static int send_delta(int socket, const struct shared_bytes *delta)
{
	uint32_t size = htole32(delta ? (uint32_t)delta->size_bytes : 0);
	int err = socket_send(socket, &size, sizeof(size), delta ? MSG_MORE : 0);

	return err || !delta ? err : socket_send(socket, delta->data, delta->size_bytes, 0);
}

static void *write_deltas(void *stream_)
{
	struct live_stream *stream = stream_;
	struct shared_bytes *delta;
	int err = 0;

	while (!err && (delta = live_reader_take(stream->reader, true))) {
		err = send_delta(stream->socket, delta);
		shared_bytes_put(delta);
	}
	if (!err)
		send_delta(stream->socket, NULL);
	stream->done = true;
	return NULL;
}

static void free_stream(struct live_stream *stream)
{
	live_reader_close(stream->reader);
	close(stream->socket);
	free(stream);
}

int live_streams_create(struct live_feed *feed, struct live_streams **ret)
{
	struct live_streams *streams = calloc(1, sizeof(*streams));

	if (!streams)
		return -ENOMEM;
	streams->feed = feed;
	*ret = streams;
	return 0;
}

int live_streams_add(struct live_streams *streams, int socket)
{
	struct live_stream *stream;
	int err;

	stream = streams->live.size < SERVER_STREAMS_MAX ? calloc(1, sizeof(*stream)) : NULL;
	if (!stream) {
		close(socket);
		return streams->live.size < SERVER_STREAMS_MAX ? -ENOMEM : -EBUSY;
	}
	stream->socket = socket;
	err = vec_reserve(&streams->live, streams->live.size + 1);
	err = err ?: live_reader_open(streams->feed, QUEUE_BYTES, &stream->reader);
	err = err ?: quiet_thread_start(&stream->thread, write_deltas, stream);
	if (err) {
		free_stream(stream);
		return err;
	}
	streams->live.data[streams->live.size++] = stream;
	return 0;
}

uint32_t live_streams_reap(struct live_streams *streams)
{
	size_t kept = 0;

	vec_for_each (stream, &streams->live) {
		if (!(*stream)->done) {
			streams->live.data[kept++] = *stream;
			continue;
		}
		pthread_join((*stream)->thread, NULL);
		streams->dropped += live_reader_dropped((*stream)->reader);
		free_stream(*stream);
	}
	streams->live.size = kept;
	return (uint32_t)kept;
}

uint64_t live_streams_dropped(const struct live_streams *streams)
{
	uint64_t dropped = streams->dropped;

	vec_for_each (stream, &streams->live)
		dropped += live_reader_dropped((*stream)->reader);
	return dropped;
}

void live_streams_destroy(struct live_streams *streams, uint32_t limit_ms)
{
	if (!streams)
		return;
	for (uint32_t ms = 0; ms < limit_ms && live_streams_reap(streams); ms += STEP_MS)
		poll(NULL, 0, STEP_MS);
	vec_for_each (stream, &streams->live) {
		shutdown((*stream)->socket, SHUT_RDWR);
		pthread_join((*stream)->thread, NULL);
		free_stream(*stream);
	}
	vec_deinit(&streams->live);
	free(streams);
}
