/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/workers/live_feed.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "sink/live/delta_format.h"

/* The state that a reader will have in an epoch once it has applied its queue. */
struct reader_state {
	uint32_t epoch, state;
};

struct live_reader {
	struct live_feed *feed;
	size_t max_bytes, queued_bytes;
	VEC(struct shared_bytes *) queue;
	size_t taken; /* those before are taken */
	VEC(struct reader_state) states;
	uint64_t dropped;
};

struct live_feed {
	pthread_mutex_t lock; /* of all members, and of the readers' */
	pthread_cond_t changed;
	VEC(struct live_reader *) readers;
	bool ended;
};

int live_feed_create(struct live_feed **ret)
{
	struct live_feed *feed = calloc(1, sizeof(*feed));

	if (!feed)
		return -ENOMEM;
	pthread_mutex_init(&feed->lock, NULL);
	pthread_cond_init(&feed->changed, NULL);
	*ret = feed;
	return 0;
}

void live_feed_destroy(struct live_feed *feed)
{
	if (!feed)
		return;
	vec_deinit(&feed->readers);
	pthread_cond_destroy(&feed->changed);
	pthread_mutex_destroy(&feed->lock);
	free(feed);
}

static void drop_queue(struct live_reader *reader)
{
	for (size_t i = reader->taken; i < reader->queue.size; i++)
		shared_bytes_put(reader->queue.data[i]);
	reader->queue.size = reader->taken = 0;
	reader->queued_bytes = 0;
}

/* The reader needs snapshots from now on. */
static void begin_anew(struct live_reader *reader)
{
	drop_queue(reader);
	reader->states.size = 0;
	reader->dropped++;
}

/* The state of a reader in an epoch, which is added if it is new. NULL: no memory. */
static struct reader_state *state_of(struct live_reader *reader, const struct delta_header *delta)
{
	size_t kept = 0;

	vec_for_each (state, &reader->states) {
		if (state->epoch >= delta->oldest_epoch)
			reader->states.data[kept++] = *state;
	}
	reader->states.size = kept;
	vec_for_each (state, &reader->states) {
		if (state->epoch == delta->epoch)
			return state;
	}
	if (vec_push(&reader->states, (struct reader_state){.epoch = delta->epoch}))
		return NULL;
	return &reader->states.data[reader->states.size - 1];
}

static int queue_delta(struct live_reader *reader, struct shared_bytes *delta)
{
	if (reader->queued_bytes + delta->size_bytes > reader->max_bytes)
		return -ENOSPC;
	/* Room is made for a queue as long as it is now. */
	if (reader->taken > reader->queue.size / 2) {
		reader->queue.size -= reader->taken;
		memmove(reader->queue.data, reader->queue.data + reader->taken,
			reader->queue.size * sizeof(*reader->queue.data));
		reader->taken = 0;
	}
	if (vec_push(&reader->queue, delta))
		return -ENOMEM;
	shared_bytes_get(delta);
	reader->queued_bytes += delta->size_bytes;
	return 0;
}

/* Returns true if the reader needs a snapshot of the delta's epoch. */
static bool offer(struct live_reader *reader, struct shared_bytes *delta,
		  const struct delta_header *header, bool snapshot)
{
	struct reader_state *state = state_of(reader, header);

	/* A common sequence that starts over (from 0) replaces the profile that the reader has. */
	if (state && (header->from == state->state || (!header->from && !snapshot))) {
		if (!queue_delta(reader, delta)) {
			state->state = header->to;
			return false;
		}
		begin_anew(reader);
		return true;
	}
	return !state || !state->state;
}

bool live_feed_publish(void *feed_, struct shared_bytes *delta, bool snapshot)
{
	struct live_feed *feed = feed_;
	struct delta_header header;
	bool wanted = false;

	memcpy(&header, delta->data, sizeof(header));
	pthread_mutex_lock(&feed->lock);
	vec_for_each (reader, &feed->readers)
		wanted |= offer(*reader, delta, &header, snapshot);
	pthread_cond_broadcast(&feed->changed);
	pthread_mutex_unlock(&feed->lock);
	shared_bytes_put(delta);
	return wanted;
}

void live_feed_end(struct live_feed *feed)
{
	pthread_mutex_lock(&feed->lock);
	feed->ended = true;
	pthread_cond_broadcast(&feed->changed);
	pthread_mutex_unlock(&feed->lock);
}

int live_reader_open(struct live_feed *feed, size_t max_bytes, struct live_reader **ret)
{
	struct live_reader *reader = calloc(1, sizeof(*reader));
	int err;

	if (!reader)
		return -ENOMEM;
	reader->feed = feed;
	reader->max_bytes = max_bytes;
	pthread_mutex_lock(&feed->lock);
	err = vec_push(&feed->readers, reader);
	pthread_mutex_unlock(&feed->lock);
	if (err) {
		free(reader);
		return err;
	}
	*ret = reader;
	return 0;
}

void live_reader_close(struct live_reader *reader)
{
	struct live_feed *feed;

	if (!reader)
		return;
	feed = reader->feed;
	pthread_mutex_lock(&feed->lock);
	for (size_t i = 0; i < feed->readers.size; i++) {
		if (feed->readers.data[i] == reader)
			feed->readers.data[i] = feed->readers.data[--feed->readers.size];
	}
	pthread_mutex_unlock(&feed->lock);
	drop_queue(reader);
	vec_deinit(&reader->queue);
	vec_deinit(&reader->states);
	free(reader);
}

struct shared_bytes *live_reader_take(struct live_reader *reader, bool wait)
{
	struct live_feed *feed = reader->feed;
	struct shared_bytes *delta = NULL;

	pthread_mutex_lock(&feed->lock);
	while (wait && reader->taken == reader->queue.size && !feed->ended)
		pthread_cond_wait(&feed->changed, &feed->lock);
	if (reader->taken < reader->queue.size) {
		delta = reader->queue.data[reader->taken++];
		reader->queued_bytes -= delta->size_bytes;
	}
	pthread_mutex_unlock(&feed->lock);
	return delta;
}

uint64_t live_reader_dropped(struct live_reader *reader)
{
	uint64_t dropped;

	pthread_mutex_lock(&reader->feed->lock);
	dropped = reader->dropped;
	pthread_mutex_unlock(&reader->feed->lock);
	return dropped;
}
