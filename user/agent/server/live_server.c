/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/server/live_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/roles/fd_message.h"
#include "agent/server/server_requests.h"
#include "base/scope.h"
#include "sink/format/live_page.h"

#define CONNECTION_BYTES (32u << 10) /* for headers of a request, and blocks of a response */
#define ANSWER_NS	 (10 * SERVER_SECOND_NS) /* limit of a request, and of an answer */
#define SLOW_NS		 (SERVER_SECOND_NS / 2)	 /* older requests are closed if too many wait */
#define TICK_MS		 250
#define LAST_BYTES_NS	 (5 * SERVER_SECOND_NS) /* time to send the rest after the recorder ends */

/* --- connections --------------------------------------------------------------------- */

static void shut_down(struct connection *connection)
{
	shutdown(connection->fd, SHUT_RDWR);
	connection->closing = true;
}

static void begin_connection(struct server *server, struct MHD_Connection *mhd, void **ret)
{
	const union MHD_ConnectionInfo *info =
		http.get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);

	for (size_t i = 0; i < SERVER_CONNECTIONS_MAX; i++) {
		struct connection *connection = &server->connections[i];

		if (connection->mhd)
			continue;
		*connection = (struct connection){
			.server = server,
			.mhd = mhd,
			.start_ns = clock_now_ns(),
			.fd = info ? info->connect_fd : -1,
			.stream = -1,
		};
		*ret = connection;
		return;
	}
}

static void end_connection(struct server *server, struct connection *connection)
{
	if (!connection)
		return;
	server->refused += !connection->accepted;
	if (connection->stream >= 0)
		close(connection->stream);
	connection->mhd = NULL;
}

static void note_connection(void *server, struct MHD_Connection *mhd, void **context,
			    enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*context = NULL;
		begin_connection(server, mhd, context);
	} else {
		end_connection(server, *context);
		*context = NULL;
	}
}

static void resume(struct connection *connection)
{
	connection->suspended = false;
	http.resume_connection(connection->mhd);
}

/* Ends a connection whose time is over. MHD's own limit restarts with each byte. */
static void check_connection(struct connection *connection, uint64_t now_ns)
{
	struct pollfd closed = {.fd = connection->fd, .events = POLLRDHUP};

	bool late = now_ns - connection->start_ns > ANSWER_NS;

	if (connection->stream < 0) {
		if (late)
			shut_down(connection);
	} else if (connection->suspended &&
		   ((server_is_answer(connection->want) && late) || poll(&closed, 1, 0) > 0)) {
		connection->gone = true;
		resume(connection);
	}
}

/* Returns the oldest connection without an answer if there are more than SERVER_WAITING_MAX, or
 * NULL. */
static struct connection *crowding(struct server *server)
{
	struct connection *oldest = NULL;
	uint32_t waiting = 0;

	for (size_t i = 0; i < SERVER_CONNECTIONS_MAX; i++) {
		struct connection *connection = &server->connections[i];

		if (!connection->mhd || connection->closing || connection->stream >= 0)
			continue;
		waiting++;
		if (!oldest || connection->start_ns < oldest->start_ns)
			oldest = connection;
	}
	return waiting > SERVER_WAITING_MAX ? oldest : NULL;
}

/* Slow requests must not take all connections. */
static void end_slow(struct server *server, uint64_t now_ns)
{
	struct connection *oldest;

	while ((oldest = crowding(server)) && now_ns - oldest->start_ns > SLOW_NS)
		shut_down(oldest);
}

static void tick(struct server *server, uint64_t now_ns)
{
	const struct server_report report = {.refused = server->refused};

	if (now_ns < server->tick_ns)
		return;
	server->tick_ns = now_ns + TICK_MS * 1000000ull;
	end_slow(server, now_ns);
	for (size_t i = 0; i < SERVER_CONNECTIONS_MAX; i++) {
		if (server->connections[i].mhd)
			check_connection(&server->connections[i], now_ns);
	}
	if (server->reported != server->refused &&
	    !fd_message_send(server->recorder, &report, sizeof(report), -1))
		server->reported = server->refused;
}

/* --- the process --------------------------------------------------------------------- */

/*
 * Set the policy to that of the page, which has the hashes of its script and style, and a directive
 * that is valid only in a header.
 */
static int set_policy(struct server *server)
{
	static const char begin[] = "http-equiv=\"Content-Security-Policy\" content=\"";
	static const char more[] = "; frame-ancestors 'none'";
	const char *policy = strstr(server->page, begin), *end;
	size_t size;

	policy = policy ? policy + strlen(begin) : NULL;
	end = policy ? strchr(policy, '"') : NULL;
	size = end ? (size_t)(end - policy) : 0;
	if (!size || size + sizeof(more) > sizeof(server->policy))
		return -EINVAL;
	memcpy(server->policy, policy, size);
	memcpy(server->policy + size, more, sizeof(more));
	return 0;
}

static int make_page(struct server *server, const struct view_options *view)
{
	FILE *out = open_memstream(&server->page, &server->page_bytes);
	int err;

	if (!out)
		return -ENOMEM;
	err = live_page_write(out, view);
	if (fclose(out) && !err)
		err = -ENOMEM;
	return err ?: set_policy(server);
}

static int start(struct server *server)
{
	struct server_start message;
	const union MHD_DaemonInfo *info;
	int listening, err;

	if (fd_message_receive(server->recorder, &message, sizeof(message), &listening) !=
		    sizeof(message) ||
	    listening < 0)
		return -EBADMSG;
	server->rules = message.rules;
	message.event[sizeof(message.event) - 1] = 0;
	message.view.event = *message.event ? message.event : NULL;
	err = make_page(server, &message.view);
	if (err)
		return err;
	fcntl(server->recorder, F_SETFL, O_NONBLOCK);
	fcntl(listening, F_SETFL, O_NONBLOCK);
	server->daemon = http.start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, server_take_request,
		server, MHD_OPTION_LISTEN_SOCKET, listening, MHD_OPTION_CONNECTION_LIMIT,
		SERVER_CONNECTIONS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned int)(ANSWER_NS / SERVER_SECOND_NS), MHD_OPTION_NOTIFY_CONNECTION,
		note_connection, server, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
	info = server->daemon ? http.get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)
			      : NULL;
	if (!info)
		return -EIO;
	server->epoll = info->epoll_fd;
	return 0;
}

static int wait_ms(const struct server *server)
{
	MHD_UNSIGNED_LONG_LONG ms;
	int tick_ms = SERVER_SECOND_NS / 1000000;

	for (size_t i = 0; i < SERVER_CONNECTIONS_MAX; i++) {
		if (server->connections[i].mhd)
			tick_ms = TICK_MS;
	}
	return http.get_timeout(server->daemon, &ms) == MHD_YES && ms < (unsigned int)tick_ms
		       ? (int)ms
		       : tick_ms;
}

/* Wait for requests, deltas, or the end of the recorder. */
static void wait(struct server *server)
{
	struct pollfd waiting[2 + SERVER_CONNECTIONS_MAX] = {
		{.fd = server->end_ns ? -1 : server->recorder, .events = POLLIN},
		{.fd = server->epoll, .events = POLLIN},
	};

	for (size_t i = 0; i < SERVER_CONNECTIONS_MAX; i++) {
		const struct connection *connection = &server->connections[i];

		waiting[2 + i] = (struct pollfd){
			.fd = connection->mhd && connection->suspended ? connection->stream : -1,
			.events = POLLIN,
		};
	}
	if (poll(waiting, ARRAY_SIZE(waiting), wait_ms(server)) < 0)
		return;
	for (size_t i = 0; i < SERVER_CONNECTIONS_MAX; i++) {
		if (waiting[2 + i].revents)
			resume(&server->connections[i]);
	}
	if (waiting[0].revents) /* the recorder sends no messages: it has closed the socket */
		server->end_ns = clock_now_ns() + LAST_BYTES_NS;
}

int live_server_load(void)
{
	return server_http_load();
}

static bool has_streams(const struct server *server)
{
	return server_count_streams(server, SERVER_WANTS_DELTAS) ||
	       server_count_streams(server, SERVER_WANTS_RECORDING);
}

void live_server_run(int socket)
{
	struct server *server = calloc(1, sizeof(*server));

	if (!server)
		return;
	server->recorder = socket;
	signal(SIGPIPE, SIG_IGN);
	if (start(server))
		return;
	while (!server->end_ns || (has_streams(server) && clock_now_ns() < server->end_ns)) {
		wait(server);
		tick(server, clock_now_ns());
		http.run(server->daemon);
	}
}
