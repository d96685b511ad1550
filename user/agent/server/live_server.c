/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/server/live_server.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/roles/fd_message.h"
#include "agent/server/server_message.h"
#include "base/scope.h"
#include "sink/format/live_page.h"

#define WAITING_MAX 12 /* requests that are incomplete or being answered */
/* With those that are closing. */
#define CONNECTIONS_MAX	   (SERVER_STREAMS_MAX + SERVER_ANSWERS_MAX + WAITING_MAX + 8)
#define ANSWER_BYTES_MAX   (8u << 20)	    /* about code or methods */
#define ASK_PERIOD_NS	   (SECOND_NS / 10) /* a request for an answer, of all browsers together */
#define ASK_BURST	   10		    /* requests that may come at once */
#define CONNECTION_BYTES   (32u << 10)	    /* for headers of a request, and blocks of a response */
#define SECOND_NS	   1000000000ull
#define ANSWER_NS	   (10 * SECOND_NS) /* limit of a request, and of a response but deltas */
#define SLOW_NS		   (SECOND_NS / 2)  /* older requests are closed if too many wait */
#define TICK_MS		   250
#define STREAM_STALL_S	   120		   /* a stream from which no byte is read is closed */
#define LAST_BYTES_NS	   (5 * SECOND_NS) /* time to send the rest after the recorder ends */
#define STREAM_BLOCK_BYTES (64u << 10)

/*
 * Functions of libmicrohttpd. The library is loaded at run time: with its own dependencies it adds
 * 2 ms to each start, and most runs have no live page.
 */
#define HTTP_FUNCTIONS(F)                                                                          \
	F(add_response_header)                                                                     \
	F(create_response_from_buffer)                                                             \
	F(create_response_from_callback)                                                           \
	F(destroy_response)                                                                        \
	F(get_connection_info)                                                                     \
	F(get_connection_values)                                                                   \
	F(get_daemon_info)                                                                         \
	F(get_timeout)                                                                             \
	F(queue_response)                                                                          \
	F(resume_connection)                                                                       \
	F(run)                                                                                     \
	F(set_connection_option)                                                                   \
	F(start_daemon)                                                                            \
	F(suspend_connection)

#define HTTP_POINTER(name) __typeof__(MHD_##name) *name;
static struct {
	HTTP_FUNCTIONS(HTTP_POINTER)
} http;

struct connection {
	struct server *server;
	struct MHD_Connection *mhd; /* NULL: the place is free */
	uint64_t start_ns;
	int fd;	       /* MHD's */
	int stream;    /* socket from the recorder, with deltas or an answer; -1: none */
	bool answer;   /* the stream has an answer, so that ANSWER_NS applies */
	size_t left;   /* bytes of an answer that may still be sent */
	bool accepted; /* the request was not refused */
	bool suspended;
	bool gone;    /* the browser has closed the connection, or its time is over */
	bool closing; /* the server has shut the connection down */
};

struct server {
	struct request_rules rules;
	char *page;
	size_t page_bytes;
	char policy[512]; /* Content-Security-Policy */
	int recorder;
	struct MHD_Daemon *daemon;
	int epoll; /* the daemon's */
	struct connection connections[CONNECTIONS_MAX];
	uint64_t refused, reported;
	uint64_t asked_ns; /* with one answer per ASK_PERIOD_NS, the time of the next one */
	uint64_t tick_ns;  /* time of the next tick() */
	uint64_t end_ns;   /* when the server ends, since the recorder has; 0: the recorder runs */
};

/* --- answers ------------------------------------------------------------------------- */

static void add_headers(const struct server *server, struct MHD_Response *response)
{
	static const char *const headers[][2] = {
		{"X-Content-Type-Options", "nosniff"},
		{"Cache-Control", "no-store"},
		{"Referrer-Policy", "no-referrer"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Cross-Origin-Opener-Policy", "same-origin"},
		{"X-Frame-Options", "DENY"},
		{"Connection",
		 "close"}, /* one request per connection, so that its time is limited */
	};

	for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
		http.add_response_header(response, headers[i][0], headers[i][1]);
	http.add_response_header(response, "Content-Security-Policy", server->policy);
}

static enum MHD_Result answer(const struct server *server, struct MHD_Connection *mhd,
			      unsigned int status, const char *type, struct MHD_Response *response)
{
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	add_headers(server, response);
	http.add_response_header(response, "Content-Type", type);
	result = http.queue_response(mhd, status, response);
	http.destroy_response(response);
	return result;
}

static enum MHD_Result refuse(const struct server *server, struct MHD_Connection *mhd,
			      unsigned int status)
{
	static const char text[] = "refused\n";

	return answer(server, mhd, status, "text/plain; charset=utf-8",
		      http.create_response_from_buffer(sizeof(text) - 1, (void *)text,
						       MHD_RESPMEM_PERSISTENT));
}

/* Called by MHD whenever the browser takes more bytes. */
static ssize_t read_stream(void *connection_, uint64_t position, char *buf, size_t size_bytes)
{
	struct connection *connection = connection_;
	ssize_t got;

	if (connection->gone)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (connection->answer && size_bytes > connection->left)
		size_bytes = connection->left;
	if (!size_bytes)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	got = recv(connection->stream, buf, size_bytes, MSG_DONTWAIT);
	if (got > 0) {
		connection->left -= connection->answer ? (size_t)got : 0;
		return got;
	}
	if (!got)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (errno != EAGAIN && errno != EINTR)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	http.suspend_connection(connection->mhd);
	connection->suspended = true;
	return 0;
}

static uint32_t count_streams(const struct server *server, bool answers)
{
	uint32_t count = 0;

	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		count += server->connections[i].mhd && server->connections[i].stream >= 0 &&
			 server->connections[i].answer == answers;
	return count;
}

/* Ask the recorder for what a browser wants. Returns a socket, or a negative errno. */
static int open_stream(struct server *server, const struct server_wanted *wanted)
{
	struct server_report report = {.refused = server->refused, .wanted = *wanted};
	bool answer = wanted->want != SERVER_WANTS_DELTAS;
	int sockets[2], err;

	if (count_streams(server, answer) == (answer ? SERVER_ANSWERS_MAX : SERVER_STREAMS_MAX) ||
	    server->end_ns)
		return -EBUSY;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	err = fd_message_send(server->recorder, &report, sizeof(report), sockets[1]);
	close(sockets[1]);
	if (!err)
		return sockets[0];
	close(sockets[0]);
	return err;
}

static enum MHD_Result stream_deltas(struct server *server, struct connection *connection)
{
	struct MHD_Connection *mhd = connection->mhd;

	connection->stream = open_stream(server, &(struct server_wanted){0});
	if (connection->stream < 0) {
		connection->stream = -1;
		server->refused++;
		return refuse(server, mhd, MHD_HTTP_SERVICE_UNAVAILABLE);
	}
	http.set_connection_option(mhd, MHD_CONNECTION_OPTION_TIMEOUT,
				   (unsigned int)STREAM_STALL_S);
	return answer(server, mhd, MHD_HTTP_OK, "application/octet-stream",
		      http.create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES,
							 read_stream, connection, NULL));
}

static enum MHD_Result send_answer(struct server *server, struct connection *connection,
				   const struct server_wanted *wanted)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t before_ns = server->asked_ns > now_ns ? server->asked_ns : now_ns;
	bool many = before_ns - now_ns > ASK_BURST * ASK_PERIOD_NS;

	connection->stream = many ? -EBUSY : open_stream(server, wanted);
	if (connection->stream < 0) {
		connection->stream = -1;
		return refuse(server, connection->mhd, MHD_HTTP_SERVICE_UNAVAILABLE);
	}
	server->asked_ns = before_ns + ASK_PERIOD_NS;
	connection->answer = true;
	connection->left = ANSWER_BYTES_MAX;
	return answer(server, connection->mhd, MHD_HTTP_OK, "application/json",
		      http.create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES,
							 read_stream, connection, NULL));
}

static enum MHD_Result note_header(void *request_, enum MHD_ValueKind kind, const char *key,
				   const char *value)
{
	struct request *request = request_;

	if (!strcasecmp(key, "Host")) {
		request->host = value;
		request->hosts++;
	} else if (!strcasecmp(key, "Origin")) {
		request->origin = value ?: "";
		request->origins++;
	} else if (!strcasecmp(key, "Sec-Fetch-Site")) {
		request->fetch_site = value ?: "";
	}
	return MHD_YES;
}

static struct connection *connection_of(struct MHD_Connection *mhd)
{
	const union MHD_ConnectionInfo *info =
		http.get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static enum MHD_Result take_request(void *server_, struct MHD_Connection *mhd, const char *path,
				    const char *method, const char *version, const char *body,
				    size_t *body_bytes, void **context)
{
	static const unsigned int statuses[] = {
		[REQUEST_BAD] = MHD_HTTP_BAD_REQUEST,
		[REQUEST_FORBIDDEN] = MHD_HTTP_FORBIDDEN,
		[REQUEST_NOT_FOUND] = MHD_HTTP_NOT_FOUND,
		[REQUEST_BAD_METHOD] = MHD_HTTP_METHOD_NOT_ALLOWED,
	};
	struct server *server = server_;
	struct connection *connection = connection_of(mhd);
	struct request request = {.method = method, .path = path};
	struct server_wanted wanted = {0};
	enum request_answer verdict;

	if (!connection || connection->accepted)
		return MHD_NO;
	http.get_connection_values(mhd, MHD_HEADER_KIND, note_header, &request);
	verdict = page_request_check(&server->rules, &request, &wanted.data);
	if (verdict >= REQUEST_REFUSED)
		return refuse(server, mhd, statuses[verdict]);
	connection->accepted = true;
	if (verdict == REQUEST_DELTAS)
		return stream_deltas(server, connection);
	if (verdict == REQUEST_CODE || verdict == REQUEST_METHODS) {
		wanted.want = verdict == REQUEST_CODE ? SERVER_WANTS_CODE : SERVER_WANTS_METHODS;
		return send_answer(server, connection, &wanted);
	}
	return answer(server, mhd, MHD_HTTP_OK, "text/html; charset=utf-8",
		      http.create_response_from_buffer(server->page_bytes, server->page,
						       MHD_RESPMEM_PERSISTENT));
}

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

	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
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
		   ((connection->answer && late) || poll(&closed, 1, 0) > 0)) {
		connection->gone = true;
		resume(connection);
	}
}

/* Returns the oldest connection without an answer if there are more than WAITING_MAX, or NULL. */
static struct connection *crowding(struct server *server)
{
	struct connection *oldest = NULL;
	uint32_t waiting = 0;

	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		struct connection *connection = &server->connections[i];

		if (!connection->mhd || connection->closing || connection->stream >= 0)
			continue;
		waiting++;
		if (!oldest || connection->start_ns < oldest->start_ns)
			oldest = connection;
	}
	return waiting > WAITING_MAX ? oldest : NULL;
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
	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
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
	err = make_page(server, &message.view);
	if (err)
		return err;
	fcntl(server->recorder, F_SETFL, O_NONBLOCK);
	fcntl(listening, F_SETFL, O_NONBLOCK);
	server->daemon = http.start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, take_request, server,
		MHD_OPTION_LISTEN_SOCKET, listening, MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)(ANSWER_NS / SECOND_NS),
		MHD_OPTION_NOTIFY_CONNECTION, note_connection, server, MHD_OPTION_STRICT_FOR_CLIENT,
		1, MHD_OPTION_END);
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
	int tick_ms = SECOND_NS / 1000000;

	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
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
	struct pollfd waiting[2 + CONNECTIONS_MAX] = {
		{.fd = server->end_ns ? -1 : server->recorder, .events = POLLIN},
		{.fd = server->epoll, .events = POLLIN},
	};

	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		const struct connection *connection = &server->connections[i];

		waiting[2 + i] = (struct pollfd){
			.fd = connection->mhd && connection->suspended ? connection->stream : -1,
			.events = POLLIN,
		};
	}
	if (poll(waiting, ARRAY_SIZE(waiting), wait_ms(server)) < 0)
		return;
	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		if (waiting[2 + i].revents)
			resume(&server->connections[i]);
	}
	if (waiting[0].revents) /* the recorder sends no messages: it has closed the socket */
		server->end_ns = clock_now_ns() + LAST_BYTES_NS;
}

int live_server_load(void)
{
	void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return -ENOSYS;
#define HTTP_LOOK_UP(name)                                                                         \
	http.name = (__typeof__(http.name))dlsym(library, "MHD_" #name);                           \
	if (!http.name)                                                                            \
		return -ENOSYS;
	HTTP_FUNCTIONS(HTTP_LOOK_UP)
	return 0;
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
	while (!server->end_ns ||
	       (count_streams(server, false) && clock_now_ns() < server->end_ns)) {
		wait(server);
		tick(server, clock_now_ns());
		http.run(server->daemon);
	}
}
