/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/server/server_requests.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/roles/fd_message.h"
#include "base/scope.h"

#define ANSWER_BYTES_MAX (8u << 20) /* about code or methods */
/* Requests for answers, of all browsers together: one in each period, and a burst at once. */
#define ASK_PERIOD_NS	   (SERVER_SECOND_NS / 10)
#define ASK_BURST	   10
#define STREAM_STALL_S	   120 /* a stream from which no byte is read is closed */
#define STREAM_BLOCK_BYTES (64u << 10)

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

bool server_is_answer(uint32_t want)
{
	return want == SERVER_WANTS_CODE || want == SERVER_WANTS_METHODS ||
	       want == SERVER_WANTS_PACKAGES;
}

/* Called by MHD whenever the browser takes more bytes. */
static ssize_t read_stream(void *connection_, uint64_t position, char *buf, size_t size_bytes)
{
	struct connection *connection = connection_;
	ssize_t got;

	if (connection->gone)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (server_is_answer(connection->want) && size_bytes > connection->left)
		size_bytes = connection->left;
	if (!size_bytes)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	got = recv(connection->stream, buf, size_bytes, MSG_DONTWAIT);
	if (got > 0) {
		connection->left -= server_is_answer(connection->want) ? (size_t)got : 0;
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

uint32_t server_count_streams(const struct server *server, uint32_t want)
{
	uint32_t count = 0;

	for (size_t i = 0; i < SERVER_CONNECTIONS_MAX; i++) {
		const struct connection *connection = &server->connections[i];

		count += connection->mhd && connection->stream >= 0 &&
			 (connection->want == want ||
			  (server_is_answer(connection->want) && server_is_answer(want)));
	}
	return count;
}

/* Ask the recorder for what a browser wants. Returns a socket, or a negative errno. */
static int open_stream(struct server *server, const struct server_wanted *wanted)
{
	static const uint32_t limits[SERVER_WANTS_COUNT] = {
		[SERVER_WANTS_DELTAS] = SERVER_STREAMS_MAX,
		[SERVER_WANTS_CODE] = SERVER_ANSWERS_MAX,
		[SERVER_WANTS_METHODS] = SERVER_ANSWERS_MAX,
		[SERVER_WANTS_PACKAGES] = SERVER_ANSWERS_MAX,
		[SERVER_WANTS_RECORDING] = SERVER_RECORDINGS_MAX,
	};
	struct server_report report = {.refused = server->refused, .wanted = *wanted};
	int sockets[2], err;

	if (server_count_streams(server, wanted->want) == limits[wanted->want] || server->end_ns)
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

/* Send deltas or a recording: any number of bytes, while the browser reads. */
static enum MHD_Result send_stream(struct server *server, struct connection *connection,
				   uint32_t want)
{
	struct MHD_Connection *mhd = connection->mhd;

	connection->stream = open_stream(server, &(struct server_wanted){.want = want});
	if (connection->stream < 0) {
		connection->stream = -1;
		server->refused++;
		return refuse(server, mhd, MHD_HTTP_SERVICE_UNAVAILABLE);
	}
	connection->want = want;
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
	connection->want = wanted->want;
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

enum MHD_Result server_take_request(void *server_, struct MHD_Connection *mhd, const char *path,
				    const char *method, const char *version, const char *body,
				    size_t *body_bytes, void **context)
{
	static const unsigned int statuses[] = {
		[REQUEST_BAD] = MHD_HTTP_BAD_REQUEST,
		[REQUEST_FORBIDDEN] = MHD_HTTP_FORBIDDEN,
		[REQUEST_NOT_FOUND] = MHD_HTTP_NOT_FOUND,
		[REQUEST_BAD_METHOD] = MHD_HTTP_METHOD_NOT_ALLOWED,
	};
	static const uint32_t wants[REQUEST_REFUSED] = {
		[REQUEST_DELTAS] = SERVER_WANTS_DELTAS,
		[REQUEST_CODE] = SERVER_WANTS_CODE,
		[REQUEST_METHODS] = SERVER_WANTS_METHODS,
		[REQUEST_PACKAGES] = SERVER_WANTS_PACKAGES,
		[REQUEST_RECORDING] = SERVER_WANTS_RECORDING,
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
	wanted.want = wants[verdict];
	if (server_is_answer(wanted.want))
		return send_answer(server, connection, &wanted);
	if (verdict != REQUEST_PAGE)
		return send_stream(server, connection, wanted.want);
	return answer(server, mhd, MHD_HTTP_OK, "text/html; charset=utf-8",
		      http.create_response_from_buffer(server->page_bytes, server->page,
						       MHD_RESPMEM_PERSISTENT));
}
