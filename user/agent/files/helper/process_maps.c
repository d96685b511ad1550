/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/helper/process_maps.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/roles/fd_message.h"
#include "base/scope.h"

#define SILENT_MAX 64 /* limit of the processes without an answer that are counted */

DEFINE_CLEANUP(DIR *, closedir);

/* A connection to an opener. */
struct maps_opener {
	int socket;
	int lifeline[2]; /* connected sockets; [1] is sent with each request, see
			    end_with_lifeline() */
};

#define NO_OPENER ((struct maps_opener){-1, {-1, -1}})

/* A request whose last reply has not been received. */
struct pending_maps {
	uint32_t pid;
	struct maps_opener opener;
	uint64_t began_ns;
	process_text text; /* received so far */
};

struct process_maps {
	const struct broker *broker;
	struct maps_opener idle; /* an opener that waits for requests, or NO_OPENER */
	uint64_t turn_end_ns;
	struct pending_maps pending[MAPS_PENDING_MAX];
	uint32_t count;
	uint32_t silent[SILENT_MAX]; /* processes that have not answered */
	uint32_t silent_count;
	struct file_reply reply;
};

int process_maps_create(const struct broker *broker, struct process_maps **ret)
{
	struct process_maps *maps = calloc(1, sizeof(*maps));

	if (!maps)
		return -ENOMEM;
	maps->broker = broker;
	maps->idle = NO_OPENER;
	*ret = maps;
	return 0;
}

static void close_opener(struct maps_opener *opener)
{
	scope_close(&opener->socket);
	scope_close(&opener->lifeline[0]);
	scope_close(&opener->lifeline[1]);
	*opener = NO_OPENER;
}

static void remove_pending(struct process_maps *maps, struct pending_maps *pending)
{
	close_opener(&pending->opener);
	vec_deinit(&pending->text);
	*pending = maps->pending[--maps->count];
}

void process_maps_destroy(struct process_maps *maps)
{
	if (!maps)
		return;
	while (maps->count)
		remove_pending(maps, &maps->pending[maps->count - 1]);
	close_opener(&maps->idle);
	free(maps);
}

void process_maps_begin_turn(struct process_maps *maps)
{
	maps->turn_end_ns = clock_now_ns() + MAPS_TURN_NS;
}

bool process_maps_turn_is_over(const struct process_maps *maps)
{
	return maps->turn_end_ns && clock_now_ns() > maps->turn_end_ns;
}

static uint32_t *find_silent(struct process_maps *maps, uint32_t pid)
{
	for (uint32_t i = 0; i < maps->silent_count; i++) {
		if (maps->silent[i] == pid)
			return &maps->silent[i];
	}
	return NULL;
}

static void add_silent(struct process_maps *maps, uint32_t pid)
{
	if (maps->silent_count < SILENT_MAX && !find_silent(maps, pid))
		maps->silent[maps->silent_count++] = pid;
}

static void remove_silent(struct process_maps *maps, uint32_t pid)
{
	uint32_t *silent = find_silent(maps, pid);

	if (silent)
		*silent = maps->silent[--maps->silent_count];
}

uint64_t process_maps_unanswered(const struct process_maps *maps)
{
	return maps->silent_count;
}

uint32_t process_maps_silent(const struct process_maps *maps, uint32_t number)
{
	return number < maps->silent_count ? maps->silent[number] : 0;
}

/* --- asking ------------------------------------------------------------------------------ */

static struct pending_maps *find(struct process_maps *maps, uint32_t pid)
{
	for (uint32_t i = 0; i < maps->count; i++) {
		if (maps->pending[i].pid == pid)
			return &maps->pending[i];
	}
	return NULL;
}

static bool is_ready(const struct pending_maps *pending)
{
	struct pollfd socket = {.fd = pending->opener.socket, .events = POLLIN};

	return poll(&socket, 1, 0) > 0;
}

/*
 * Make room for a request: abandon the oldest one without an answer. Its opener ends
 * (end_with_lifeline()).
 */
static bool make_room(struct process_maps *maps, uint64_t now_ns)
{
	struct pending_maps *oldest = NULL;

	if (maps->count < MAPS_PENDING_MAX)
		return true;
	for (uint32_t i = 0; i < maps->count; i++) {
		struct pending_maps *pending = &maps->pending[i];

		if (now_ns - pending->began_ns > MAPS_READ_NS && !is_ready(pending) &&
		    (!oldest || pending->began_ns < oldest->began_ns))
			oldest = pending;
	}
	if (!oldest)
		return false;
	add_silent(maps, oldest->pid);
	remove_pending(maps, oldest);
	return true;
}

static int connect_opener(const struct broker *broker, struct maps_opener *ret)
{
	int err = fd_message_pair(ret->lifeline);

	if (err)
		return err;
	ret->socket = broker_connect(broker, ROLE_OPENER);
	return ret->socket < 0 ? ret->socket : 0;
}

static int ask(struct process_maps *maps, uint32_t pid, uint64_t now_ns, struct pending_maps **ret)
{
	struct file_request request = {.kind = FILE_READ_MAPS, .pid = pid};
	CLEANUP(close_opener) struct maps_opener opener = NO_OPENER;
	int err = 0;

	if (!make_room(maps, now_ns))
		return -EINPROGRESS;
	if (maps->idle.socket < 0) {
		err = connect_opener(maps->broker, &opener);
	} else {
		opener = maps->idle;
		maps->idle = NO_OPENER;
	}
	err = err
		      ?: fd_message_send(opener.socket, &request,
					 offsetof(struct file_request, path) + 1,
					 opener.lifeline[1]);
	if (err)
		return err;
	*ret = &maps->pending[maps->count++];
	**ret = (struct pending_maps){.pid = pid, .opener = opener, .began_ns = now_ns};
	opener = NO_OPENER;
	return 0;
}

/* Receive a reply. Returns 1 if more follow, 0 after the last one, or a negative errno. */
static int receive(struct process_maps *maps, struct pending_maps *pending)
{
	AUTO_CLOSE int none = -1;
	const struct file_reply *reply = &maps->reply;
	ssize_t got =
		fd_message_receive(pending->opener.socket, &maps->reply, sizeof(*reply), &none);

	if (got < (ssize_t)offsetof(struct file_reply, bytes) ||
	    reply->size_bytes > (uint64_t)got - offsetof(struct file_reply, bytes)) {
		close_opener(&pending->opener);
		return got < 0 ? (int)got : -EPIPE;
	}
	if (vec_reserve(&pending->text, pending->text.size + reply->size_bytes))
		return -ENOMEM;
	if (reply->size_bytes)
		memcpy(pending->text.data + pending->text.size, reply->bytes, reply->size_bytes);
	pending->text.size += reply->size_bytes;
	return reply->file_bytes ? 1 : reply->err;
}

/* Receive replies until a time. Returns 0 after the last one, -EINPROGRESS or a negative errno. */
static int receive_until(struct process_maps *maps, struct pending_maps *pending, uint64_t end_ns)
{
	struct pollfd socket = {.fd = pending->opener.socket, .events = POLLIN};
	int more = 1;

	while (more > 0) {
		uint64_t now_ns = clock_now_ns();
		uint64_t left_ms = now_ns < end_ns ? (end_ns - now_ns + 999999) / 1000000 : 0;
		int ready = poll(&socket, 1, (int)left_ms);

		if (ready > 0)
			more = receive(maps, pending);
		else if (!left_ms)
			return -EINPROGRESS;
	}
	return more;
}

static int wait_for(struct process_maps *maps, struct pending_maps *pending)
{
	uint64_t now_ns = clock_now_ns(), end_ns = now_ns + MAPS_READ_NS;

	if (!maps->turn_end_ns)
		return receive_until(maps, pending, pending->began_ns + MAPS_PATIENCE_NS);
	if (end_ns > maps->turn_end_ns)
		end_ns = maps->turn_end_ns;
	/* A process that was waited for in an earlier turn must not delay others. */
	if (now_ns - pending->began_ns > MAPS_READ_NS)
		end_ns = now_ns;
	return receive_until(maps, pending, end_ns);
}

int process_text_read(process_text *text, uint32_t pid, const char *name)
{
	AUTO_CLOSE int fd = -1;
	char path[64 + 256];
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	text->size = 0;
	do {
		if (vec_reserve(text, text->size + 16384))
			return -ENOMEM;
		got = read(fd, text->data + text->size, text->capacity - text->size);
		if (got < 0)
			return -errno;
		text->size += (size_t)got;
	} while (got && text->size < PROCESS_TEXT_MAX);
	return 0;
}

int process_maps_read(struct process_maps *maps, uint32_t pid, process_text *text)
{
	uint64_t now_ns = clock_now_ns();
	struct pending_maps *pending;
	int err;

	if (!maps)
		return process_text_read(text, pid, "maps");
	pending = find(maps, pid);
	err = pending ? 0 : ask(maps, pid, now_ns, &pending);
	if (err)
		return err;
	err = wait_for(maps, pending);
	if (err == -EINPROGRESS) {
		if (clock_now_ns() - pending->began_ns < MAPS_PATIENCE_NS)
			return err;
		add_silent(maps, pid);
		return -ETIMEDOUT;
	}
	remove_silent(maps, pid);
	if (!err) {
		vec_deinit(text);
		*text = pending->text;
		pending->text = (process_text){0};
	}
	if (maps->idle.socket < 0 && pending->opener.socket >= 0) {
		maps->idle = pending->opener;
		pending->opener = NO_OPENER;
	}
	remove_pending(maps, pending);
	return err;
}

/* --- the opener's side ------------------------------------------------------------------- */

static int send_reply(int socket, const struct file_reply *reply)
{
	return fd_message_send(socket, reply,
			       offsetof(struct file_reply, bytes) + reply->size_bytes, -1);
}

/* Send a file of /proc. Sets *ret_bytes to its size. Returns the errno of reading or sending. */
static int send_file(int socket, const char *path, struct file_reply *reply, size_t *ret_bytes)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err = fd < 0 ? -errno : 0;

	*ret_bytes = 0;
	while (!err && *ret_bytes < PROCESS_TEXT_MAX) {
		ssize_t got = read(fd, reply->bytes, sizeof(reply->bytes));

		if (got <= 0)
			return got ? -errno : 0;
		reply->size_bytes = (uint64_t)got;
		reply->file_bytes = 1;
		*ret_bytes += (size_t)got;
		err = send_reply(socket, reply);
	}
	return err;
}

/*
 * Send the maps of the first thread that has any. The maps of the process are empty if its leader
 * has ended, and those of kernel threads always.
 */
static int send_of_threads(int socket, uint32_t pid, struct file_reply *reply)
{
	CLEANUP(closedirp) DIR *tasks = NULL;
	const struct dirent *entry;
	char path[64 + 256];
	size_t bytes = 0;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	tasks = opendir(path);
	while (!bytes && tasks && (entry = readdir(tasks))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%u/task/%s/maps", pid, entry->d_name);
		send_file(socket, path, reply, &bytes);
	}
	return 0;
}

/*
 * Let this process end when the requester closes its end of the lifeline: SIGIO is raised then, and
 * its default action ends the process. Only that ends a wait for the lock of a memory map. The
 * socket of the requests cannot be used for it, since messages raise SIGIO as well; a request may
 * do so even after it was received, if its sender lost the CPU inside the system call.
 */
static int end_with_lifeline(int lifeline)
{
	if (lifeline < 0 || fcntl(lifeline, F_SETOWN, getpid()) ||
	    fcntl(lifeline, F_SETFL, O_ASYNC))
		return -EINVAL;
	return 0;
}

int process_maps_serve(int socket, int lifeline, const struct file_request *request,
		       struct file_reply *reply)
{
	char path[64];
	size_t bytes = 0;
	int err = end_with_lifeline(lifeline);

	snprintf(path, sizeof(path), "/proc/%u/maps", request->pid);
	err = err ?: send_file(socket, path, reply, &bytes);
	if (!err && !bytes)
		err = send_of_threads(socket, request->pid, reply);
	reply->err = err;
	reply->size_bytes = reply->file_bytes = 0;
	return send_reply(socket, reply);
}
