/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sockets get the deltas of a feed, each at its own speed: one that nobody reads delays no other
 * one, and costs its own queue. One that is closed ends its thread.
 */
#include "agent/server/live_streams.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/server/server_message.h"
#include "base/scope.h"
#include "sink/live/delta_format.h"
#include "tests/unit/cases.h"

#define DELTA_BYTES_LARGE (1u << 20)
#define DELTAS		  40 /* together larger than a queue */
#define WAIT_MS		  60000

/* Reads a socket to its end on a thread of its own. */
struct browser {
	int socket;
	pthread_t thread;
	uint32_t deltas, state; /* read; where the last one leads */
	bool ended;		/* with the mark of the end */
	bool wrong;		/* a delta that does not follow */
};

struct fixture {
	struct live_feed *feed;
	struct live_streams *streams;
	uint32_t state;
};

static bool read_all(int socket, void *ret, size_t size_bytes)
{
	return recv(socket, ret, size_bytes, MSG_WAITALL) == (ssize_t)size_bytes;
}

static void *browse(void *browser_)
{
	AUTO_FREE char *bytes = malloc(DELTA_BYTES_LARGE);
	struct browser *browser = browser_;
	struct delta_header header;
	uint32_t size;

	while (read_all(browser->socket, &size, sizeof(size))) {
		browser->ended = !size;
		if (!size || size > DELTA_BYTES_LARGE || !read_all(browser->socket, bytes, size))
			break;
		memcpy(&header, bytes, sizeof(header));
		browser->wrong |= header.from && header.from != browser->state;
		browser->state = header.to;
		browser->deltas++;
	}
	return NULL;
}

/* Returns the browser's end of a stream. */
static int add_stream(struct fixture *f, int wanted)
{
	int sockets[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
	assert_int_equal(live_streams_add(f->streams, sockets[1]), wanted);
	return sockets[0];
}

static void open_browser(struct fixture *f, struct browser *ret)
{
	*ret = (struct browser){.socket = add_stream(f, 0)};
	assert_int_equal(pthread_create(&ret->thread, NULL, browse, ret), 0);
}

static void end_browser(struct browser *browser)
{
	assert_int_equal(pthread_join(browser->thread, NULL), 0);
	assert_false(browser->wrong);
	close(browser->socket);
}

/* Publish a delta: of the common sequence, or a snapshot. Returns true if one is wanted. */
static bool publish(struct fixture *f, size_t size_bytes, bool snapshot)
{
	AUTO_FREE char *bytes = calloc(1, size_bytes);
	struct delta_header header = {
		.magic = DELTA_MAGIC,
		.version = DELTA_VERSION,
		.flags = DELTA_COMPLETE,
		.from = snapshot ? 0 : f->state,
		.to = snapshot ? f->state : f->state + 1,
	};
	struct shared_bytes *delta;

	assert_non_null(bytes);
	memcpy(bytes, &header, sizeof(header));
	delta = shared_bytes_create(bytes, size_bytes);
	assert_non_null(delta);
	f->state = header.to;
	return live_feed_publish(f->feed, delta, snapshot);
}

/* Wait until so many streams are left. */
static void wait_for(struct fixture *f, uint32_t streams)
{
	for (int ms = 0; live_streams_reap(f->streams) != streams; ms++) {
		assert_true(ms < WAIT_MS);
		poll(NULL, 0, 1);
	}
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(live_feed_create(&f->feed), 0);
	assert_int_equal(live_streams_create(f->feed, &f->streams), 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	live_feed_end(f->feed);
	live_streams_destroy(f->streams, 0);
	live_feed_destroy(f->feed);
	free(f);
	return 0;
}

CASE_WITH(a_stream_that_nobody_reads_delays_no_other_one, set_up, tear_down)
{
	struct fixture *f = *state;
	struct browser fast[3];
	int unread = add_stream(f, 0);

	for (size_t i = 0; i < ARRAY_SIZE(fast); i++)
		open_browser(f, &fast[i]);
	for (uint32_t i = 0; i < DELTAS; i++) {
		if (publish(f, DELTA_BYTES_LARGE, false))
			publish(f, sizeof(struct delta_header), true);
		poll(NULL, 0, 5);
	}
	assert_true(live_streams_dropped(f->streams) > 0);
	assert_int_equal(live_streams_reap(f->streams), 4);
	live_feed_end(f->feed);
	wait_for(f, 1);
	for (size_t i = 0; i < ARRAY_SIZE(fast); i++) {
		end_browser(&fast[i]);
		assert_true(fast[i].ended);
		assert_int_equal(fast[i].state, f->state);
	}
	close(unread);
}

CASE_WITH(a_browser_that_goes_ends_its_stream_only, set_up, tear_down)
{
	struct fixture *f = *state;
	struct browser stays;
	int goes = add_stream(f, 0);

	open_browser(f, &stays);
	publish(f, DELTA_BYTES_LARGE, false);
	close(goes);
	for (int ms = 0; live_streams_reap(f->streams) != 1; ms++) {
		assert_true(ms < WAIT_MS);
		publish(f, sizeof(struct delta_header), false);
		poll(NULL, 0, 1);
	}
	live_feed_end(f->feed);
	end_browser(&stays);
	assert_true(stays.ended);
	assert_int_equal(stays.state, f->state);
}

CASE_WITH(a_browser_that_comes_back_gets_a_snapshot, set_up, tear_down)
{
	struct fixture *f = *state;
	struct browser browser;
	int before = add_stream(f, 0);

	publish(f, sizeof(struct delta_header), false);
	close(before);
	while (live_streams_reap(f->streams))
		publish(f, sizeof(struct delta_header), false);
	open_browser(f, &browser);
	assert_true(publish(f, sizeof(struct delta_header), false));
	publish(f, sizeof(struct delta_header), true);
	publish(f, sizeof(struct delta_header), false);
	live_feed_end(f->feed);
	end_browser(&browser);
	assert_int_equal(browser.deltas, 2);
	assert_int_equal(browser.state, f->state);
}

CASE_WITH(one_browser_too_many_is_refused, set_up, tear_down)
{
	struct fixture *f = *state;
	int sockets[SERVER_STREAMS_MAX + 1];
	char byte;

	for (int i = 0; i < SERVER_STREAMS_MAX; i++)
		sockets[i] = add_stream(f, 0);
	sockets[SERVER_STREAMS_MAX] = add_stream(f, -EBUSY);
	assert_int_equal(recv(sockets[SERVER_STREAMS_MAX], &byte, 1, 0), 0); /* it is closed */
	assert_int_equal(live_streams_reap(f->streams), SERVER_STREAMS_MAX);
	for (int i = 0; i <= SERVER_STREAMS_MAX; i++)
		close(sockets[i]);
}

/* The end of the run does not wait for a browser that reads nothing. */
CASE_WITH(the_end_waits_for_no_browser, set_up, tear_down)
{
	struct fixture *f = *state;
	int unread = add_stream(f, 0);

	publish(f, DELTA_BYTES_LARGE, false);
	live_feed_end(f->feed);
	live_streams_destroy(TAKE_PTR(f->streams), 20);
	close(unread);
}
