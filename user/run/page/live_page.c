/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/page/live_page.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "agent/launch/ssh_session.h"
#include "agent/roles/fd_message.h"
#include "agent/server/live_streams.h"
#include "agent/server/server_message.h"
#include "base/scope.h"
#include "run/messages/say.h"
#include "run/page/live_answers.h"
#include "sink/live/live_sink.h"

#define PORT_DEFAULT 7070
#define PORTS_TRIED  100
#define BACKLOG	     128
#define PERIOD_NS    500000000ull /* of deltas; samples of a JVM are held for as long */
#define END_MS	     2000

struct live_page {
	int listening; /* socket, which the server has too: the port stays ours if it dies */
	int server;    /* -1: it is not running */
	struct request_rules rules;
	struct pipeline *pipeline;
	struct live_feed *feed;
	struct sink *sink; /* the pipeline's */
	struct live_streams *streams;
	struct live_answers *answers;
	struct recording_copies *copies;
	bool subscribed;
	bool remote; /* the user is at another machine */
	uint64_t refused;
};

static int make_token(char *ret)
{
	uint8_t bytes[TOKEN_DIGITS / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static int try_port(struct live_page *page, uint16_t port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	AUTO_CLOSE int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, BACKLOG))
		return -errno;
	page->listening = TAKE_FD(fd);
	page->rules.port = port;
	return 0;
}

int live_page_listen(uint32_t port, struct live_page **ret)
{
	struct live_page *page = calloc(1, sizeof(*page));
	uint32_t first = port ?: PORT_DEFAULT;
	int err = -EADDRINUSE;

	*ret = page;
	if (!page)
		return -ENOMEM;
	page->listening = page->server = -1;
	page->remote = ssh_session_is();
	for (uint32_t i = 0; i < PORTS_TRIED && first + i <= UINT16_MAX && err == -EADDRINUSE; i++)
		err = try_port(page, (uint16_t)(first + i));
	err = err ?: make_token(page->rules.token);
	if (err)
		say("jitbpf: the live page cannot listen on 127.0.0.1:%u: %s\n", first,
		    strerror(-err));
	else if (page->rules.port != first)
		say("jitbpf: port %u is taken; the live page has port %u\n", first,
		    page->rules.port);
	return err;
}

static void say_address(const struct live_page *page)
{
	uint32_t port = page->rules.port;

	say("jitbpf: live page: http://127.0.0.1:%u/%s/\n", port, page->rules.token);
	if (page->remote)
		say("jitbpf: to open it on your machine, run there: ssh -N -L "
		    "%u:127.0.0.1:%u HOST\n",
		    port, port);
}

static int start_server(struct live_page *page, const struct broker *broker,
			const struct view_options *view)
{
	struct server_start start = {.rules = page->rules, .view = *view};

	snprintf(start.event, sizeof(start.event), "%s", view->event ?: "");
	page->server = broker_connect(broker, ROLE_SERVER);
	if (page->server < 0)
		return page->server;
	return fd_message_send(page->server, &start, sizeof(start), page->listening);
}

int live_page_start(struct live_page *page, const struct live_page_run *run)
{
	int err = live_feed_create(&page->feed);

	page->pipeline = run->pipeline;
	err = err ?: live_streams_create(page->feed, &page->streams);
	err = err ?: live_sink_create(live_feed_publish, page->feed, DELTA_BYTES, &page->sink);
	err = err ?: pipeline_add_live(run->pipeline, &sink_live, page->sink);
	err = err ?: live_answers_create(run->pipeline, &run->sources, &page->answers);
	err = err ?: recording_copies_create(run->pipeline, &page->copies);
	err = err ?: start_server(page, run->broker, run->view);
	if (!err)
		say_address(page);
	return err;
}

int live_page_fd(const struct live_page *page)
{
	return page ? page->server : -1;
}

static void drop_server(struct live_page *page)
{
	close(page->server);
	page->server = -1;
	say("jitbpf: the live page's server has ended: browsers get no more, and the run goes on\n");
}

/*
 * Close the connections that nobody serves: a browser sees an end at once. Another process at this
 * port would get the page's token from it.
 */
static void refuse_browsers(const struct live_page *page)
{
	int fd;

	for (int i = 0; i < BACKLOG; i++) {
		fd = page->server < 0 && page->listening >= 0
			     ? accept4(page->listening, NULL, NULL, SOCK_CLOEXEC)
			     : -1;
		if (fd < 0)
			return;
		close(fd);
	}
}

/* Returns false if there is no message. */
static bool take_message(struct live_page *page)
{
	struct pollfd readable = {.fd = page->server, .events = POLLIN};
	struct server_report report;
	ssize_t got;
	int fd;

	if (page->server < 0 || poll(&readable, 1, 0) <= 0)
		return false;
	got = fd_message_receive(page->server, &report, sizeof(report), &fd);
	if (got != sizeof(report)) {
		if (fd >= 0)
			close(fd);
		drop_server(page);
		return false;
	}
	page->refused = report.refused;
	if (fd >= 0 && report.wanted.want == SERVER_WANTS_DELTAS)
		live_streams_add(page->streams, fd); /* if it fails, the browser sees an end */
	else if (fd >= 0 && report.wanted.want == SERVER_WANTS_RECORDING)
		recording_copies_ask(page->copies, fd);
	else if (fd >= 0)
		live_answers_ask(page->answers, &report.wanted, fd);
	return true;
}

void live_page_round(struct live_page *page, const struct written_recording *now)
{
	bool wanted;

	if (!page)
		return;
	/* Copies that were sent make room for those that the server asks for now. */
	recording_copies_round(page->copies, now);
	for (int i = 0; i < SERVER_STREAMS_MAX && take_message(page); i++)
		;
	refuse_browsers(page);
	live_answers_round(page->answers);
	wanted = live_streams_reap(page->streams);
	if (wanted && !page->subscribed)
		page->subscribed = !pipeline_subscribe(page->pipeline, page->sink, PERIOD_NS);
	else if (!wanted && page->subscribed)
		pipeline_unsubscribe(page->pipeline, page->sink);
	page->subscribed = wanted && page->subscribed;
}

void live_page_end(struct live_page *page, bool quiet)
{
	uint64_t dropped;

	if (!page || !page->streams)
		return;
	if (page->subscribed)
		pipeline_unsubscribe(page->pipeline, page->sink);
	page->subscribed = false;
	live_answers_destroy(TAKE_PTR(page->answers));
	recording_copies_destroy(TAKE_PTR(page->copies), END_MS);
	live_feed_end(page->feed);
	dropped = live_streams_dropped(page->streams);
	live_streams_destroy(TAKE_PTR(page->streams), END_MS);
	if (page->server >= 0)
		close(page->server);
	if (page->listening >= 0)
		close(page->listening);
	page->server = page->listening = -1;
	if (!quiet && page->refused)
		say("jitbpf: the live page refused %llu requests and connections\n",
		    (unsigned long long)page->refused);
	if (!quiet && dropped)
		say("jitbpf: browsers of the live page fell behind %llu times\n",
		    (unsigned long long)dropped);
}

void live_page_destroy(struct live_page *page)
{
	if (!page)
		return;
	live_page_end(page, true);
	if (page->listening >= 0)
		close(page->listening);
	live_feed_destroy(page->feed);
	free(page);
}
