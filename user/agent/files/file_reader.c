/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/file_reader.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/files/file_blob.h"
#include "agent/files/read_window.h"
#include "agent/roles/fd_message.h"
#include "base/scope.h"

struct file_reader {
	const struct broker *broker;
	const uint64_t *turn_end_ns; /* NULL: not of the event loop */
	struct file_patience patience, servers;
	int openers, fetchers; /* sockets to a helper; -1 if there is none */
	struct place_accounts accounts;
	struct file_reply reply;
};

int file_reader_create(const struct broker *broker, struct file_patience patience,
		       struct file_reader **ret)
{
	struct file_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return -ENOMEM;
	reader->broker = broker;
	reader->patience = reader->servers = patience;
	reader->openers = reader->fetchers = -1;
	*ret = reader;
	return 0;
}

void file_reader_destroy(struct file_reader *reader)
{
	if (!reader)
		return;
	scope_close(&reader->openers);
	scope_close(&reader->fetchers);
	place_accounts_deinit(&reader->accounts);
	free(reader);
}

void file_reader_set_turn(struct file_reader *reader, const uint64_t *turn_end_ns)
{
	reader->turn_end_ns = turn_end_ns;
}

static bool in_turn(const struct file_reader *reader)
{
	return reader->turn_end_ns && *reader->turn_end_ns;
}

/* Returns the real user ID of a process, or FILE_OWNER_UNKNOWN if it has ended. */
static uint32_t owner_of(uint32_t pid)
{
	uint32_t owner = FILE_OWNER_UNKNOWN;
	AUTO_FCLOSE FILE *status = NULL;
	char text[128];

	snprintf(text, sizeof(text), "/proc/%u/status", pid);
	status = pid ? fopen(text, "re") : NULL;
	while (status && fgets(text, sizeof(text), status)) {
		if (sscanf(text, "Uid: %u", &owner) == 1)
			break;
	}
	return owner;
}

void file_reader_set_servers(struct file_reader *reader, struct file_patience patience)
{
	reader->servers = patience;
}

const char *file_reader_given_up(const struct file_reader *reader, uint32_t number)
{
	return place_accounts_given_up(&reader->accounts, number);
}

static const struct file_patience *patience_with(const struct file_reader *reader,
						 struct file_place place)
{
	return place.kind == FILE_PLACE_SERVERS ? &reader->servers : &reader->patience;
}

/* Returns a name of what was requested, for messages. The caller frees it. */
static char *subject_of(const struct file_request *request, int fd)
{
	char link[64], path[FILE_PATH_MAX], *memory;
	ssize_t length;

	if (request->kind == FILE_FIND_SERVED)
		return strdup("a debuginfod server");
	if (request->kind == FILE_READ_MEMORY || request->kind == FILE_OPEN_MAPPING ||
	    request->kind == FILE_OPEN_MEMFD || request->kind == FILE_READ_LINK)
		return asprintf(&memory, "the memory of process %u", request->pid) < 0 ? NULL
										       : memory;
	if (request->kind != FILE_READ && request->kind != FILE_READ_GROWING)
		return strdup(request->path);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	/* readlink() on /proc/self/fd does not access the file system */
	length = readlink(link, path, sizeof(path));
	return length < 0 ? strdup("a file") : strndup(path, (size_t)length);
}

/*
 * Charge a place; give it up if there was no answer or if its time is used up. Takes over socket,
 * from which an answer may still come, or -1.
 */
static int charge(struct file_reader *reader, struct file_place place, uint64_t spent_ms,
		  bool answered, int socket_, const struct file_request *request, int fd)
{
	AUTO_CLOSE int socket = socket_;
	int err = place_accounts_charge(&reader->accounts, place, patience_with(reader, place),
					spent_ms, answered, clock_now_ns());
	char *subject;

	/* One request at a time: its late answer makes up for it. */
	if (!err && !answered && in_turn(reader))
		err = 1;
	if (err <= 0)
		return err;
	subject = subject_of(request, fd);
	if (!subject)
		return -ENOMEM;
	place_accounts_give_up(&reader->accounts, place, subject, TAKE_FD(socket), clock_now_ns());
	place_accounts_set_owner(&reader->accounts, place, owner_of(request->pid));
	return 0;
}

static int wait_for_answer(int socket, uint64_t until_ns)
{
	struct pollfd waiting = {.fd = socket, .events = POLLIN};
	uint64_t now_ns;

	while ((now_ns = clock_now_ns()) < until_ns) {
		int ready = poll(&waiting, 1, (int)((until_ns - now_ns + 999999) / 1000000));

		if (ready > 0)
			return 0;
		if (ready < 0 && errno != EINTR)
			return -errno;
	}
	return -ETIMEDOUT;
}

/* Returns the size of the reply, or a negative errno if the helper cannot be used any more. */
static ssize_t converse(struct file_reader *reader, int socket, const struct file_request *request,
			int fd, uint64_t until_ns, int *ret_fd)
{
	size_t bytes = offsetof(struct file_request, path) + strlen(request->path) + 1;
	ssize_t got;
	int err;

	err = fd_message_send(socket, request, bytes, fd);
	err = err ?: wait_for_answer(socket, until_ns);
	if (err)
		return err;
	got = fd_message_receive(socket, &reader->reply, sizeof(reader->reply), ret_fd);
	if (got < (ssize_t)offsetof(struct file_reply, bytes))
		return got < 0 ? got : -EPIPE; /* the helper has exited */
	return got;
}

/* Returns true if the library timed out on a server, or the kernel on a mount. */
static bool is_timeout(int err)
{
	return err == -ETIME || err == -ETIMEDOUT;
}

/* A place that was given up may have answered since: its helper waited for a CPU, not for it. */
static void see_late_answer(struct file_reader *reader, struct file_place place)
{
	struct pollfd late = {.fd = place_accounts_late_socket(&reader->accounts, place),
			      .events = POLLIN};

	if (late.fd >= 0 && poll(&late, 1, 0) > 0)
		place_accounts_revive(&reader->accounts, place);
}

/* Returns true if other places of the user whose process needs this one do not answer. */
static bool is_refused(const struct file_reader *reader, struct file_place place, uint32_t pid)
{
	return reader->accounts.unforgiven && pid &&
	       place_accounts_refuses(&reader->accounts, place, owner_of(pid));
}

/* Limit the time for an answer to what is left of the event loop's turn. */
static uint64_t left_of_turn_ms(const struct file_reader *reader, uint64_t left_ms, uint64_t now_ns)
{
	uint64_t end_ns = in_turn(reader) ? *reader->turn_end_ns : 0;
	uint64_t turn_ms = end_ns > now_ns ? (end_ns - now_ns) / 1000000 : 0;

	if (!end_ns)
		return left_ms;
	turn_ms = turn_ms < FILE_TURN_ANSWER_MS ? turn_ms : FILE_TURN_ANSWER_MS;
	return left_ms < turn_ms ? left_ms : turn_ms;
}

/* Send a request, wait, and charge the place. The answer is in reader->reply; fd is sent along. */
static int ask(struct file_reader *reader, struct file_place place,
	       const struct file_request *request, int fd, int *ret_fd)
{
	uint64_t began_ns = clock_now_ns(), left_ms;
	bool fetching = request->kind == FILE_FIND_SERVED, answered;
	int *socket = fetching ? &reader->fetchers : &reader->openers, err, late = -1;
	ssize_t got;

	*ret_fd = -1;
	see_late_answer(reader, place);
	left_ms = place_accounts_left_ms(&reader->accounts, place, patience_with(reader, place),
					 began_ns);
	left_ms = left_of_turn_ms(reader, left_ms, began_ns);
	if (!left_ms || is_refused(reader, place, request->pid))
		return -ETIMEDOUT;
	if (*socket < 0)
		*socket = broker_connect(reader->broker, fetching ? ROLE_FETCHER : ROLE_OPENER);
	if (*socket < 0)
		return *socket;
	got = converse(reader, *socket, request, fd, began_ns + left_ms * 1000000, ret_fd);
	if (got == -ETIMEDOUT)
		late = TAKE_FD(*socket);
	else if (got < 0)
		close(TAKE_FD(*socket));
	answered = got >= 0 && !is_timeout(reader->reply.err);
	err = charge(reader, place, (clock_now_ns() - began_ns) / 1000000, answered, late, request,
		     fd);
	if (got < 0)
		return (int)got;
	return err ?: reader->reply.err;
}

int file_reader_mapping(struct file_reader *reader, uint32_t pid, uint64_t address,
			uint64_t size_bytes)
{
	struct file_request request = {
		.kind = FILE_OPEN_MAPPING,
		.pid = pid,
		.address = address,
		.size_bytes = size_bytes,
	};
	AUTO_CLOSE int fd = -1;
	int err = ask(reader, (struct file_place){.kind = FILE_PLACE_MEMORY, .a = pid}, &request,
		      -1, &fd);

	if (err)
		return err;
	return fd < 0 ? -EIO : TAKE_FD(fd);
}

int file_reader_memfd(struct file_reader *reader, const struct file_request *request)
{
	struct file_place place = {.kind = FILE_PLACE_MEMORY, .a = request->pid};
	AUTO_CLOSE int fd = -1;
	int err = ask(reader, place, request, -1, &fd);

	if (err)
		return err;
	return fd < 0 ? -EIO : TAKE_FD(fd);
}

int file_reader_link(struct file_reader *reader, uint32_t pid, uint32_t fd, char ret[FILE_PATH_MAX])
{
	struct file_request request = {.kind = FILE_READ_LINK, .pid = pid, .address = fd};
	struct file_place place = {.kind = FILE_PLACE_MEMORY, .a = pid};
	AUTO_CLOSE int none = -1;
	int err = ask(reader, place, &request, -1, &none);

	if (err)
		return err;
	if (reader->reply.size_bytes >= FILE_PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(ret, reader->reply.bytes, reader->reply.size_bytes);
	ret[reader->reply.size_bytes] = 0;
	return 0;
}

int file_reader_find(struct file_reader *reader, struct file_place place,
		     const struct file_request *request, int mapping_fd, struct found_file *ret)
{
	AUTO_CLOSE int fd = -1;
	int err = ask(reader, place, request, mapping_fd, &fd);

	if (err)
		return err;
	if (fd < 0)
		return -EIO; /* no descriptor was free */
	*ret = (struct found_file){
		.fd = TAKE_FD(fd),
		.direct = reader->reply.direct,
		.owner = reader->reply.owner,
		.flags = reader->reply.flags,
		.dev_major = reader->reply.dev_major,
		.dev_minor = reader->reply.dev_minor,
		.version = reader->reply.version,
		.pinned_bytes = reader->reply.pinned_bytes,
		.size_bytes = reader->reply.size_bytes,
		.build_id_bytes = reader->reply.build_id_bytes,
	};
	memcpy(ret->build_id, reader->reply.build_id, sizeof(ret->build_id));
	return 0;
}

/* Context of a blob that reads through a helper. */
struct read_file {
	struct file_reader *reader;
	struct file_place place;
	int fd;
	uint64_t size_bytes;
	struct read_window window;
};

static int read_piece(struct read_file *file, uint64_t offset, void *buf, size_t size_bytes)
{
	struct file_request request = {
		.kind = FILE_READ,
		.offset = offset,
		.size_bytes = size_bytes,
	};
	AUTO_CLOSE int none = -1;
	int err = ask(file->reader, file->place, &request, file->fd, &none);

	if (err)
		return err;
	if (file->reader->reply.size_bytes != size_bytes)
		return -EIO;
	memcpy(buf, file->reader->reply.bytes, size_bytes);
	return 0;
}

static int read_pieces(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
	struct read_file *file = context;
	uint8_t *to = buf;

	while (size_bytes) {
		size_t piece = size_bytes < FILE_PIECE_MAX ? size_bytes : FILE_PIECE_MAX;
		int err = read_piece(file, offset, to, piece);

		if (err)
			return err;
		to += piece;
		offset += piece;
		size_bytes -= piece;
	}
	return 0;
}

static int read_at(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
	struct read_file *file = context;

	return read_window_get(&file->window, file->size_bytes, read_pieces, file, offset, buf,
			       size_bytes);
}

static void close_file(void *context)
{
	struct read_file *file = context;

	close(file->fd);
	free(file);
}

int file_reader_blob(struct file_reader *reader, struct file_place place, struct found_file *found,
		     struct blob *ret)
{
	struct read_file *file;

	if (found->direct)
		return file_blob_init(ret, found->fd);
	file = malloc(sizeof(*file));
	if (!file)
		return -ENOMEM;
	file->reader = reader;
	file->place = place;
	file->fd = TAKE_FD(found->fd);
	file->size_bytes = found->size_bytes;
	file->window.offset = file->window.bytes = 0;
	*ret = (struct blob){
		.size_bytes = file->size_bytes,
		.read = read_at,
		.close = close_file,
		.context = file,
	};
	return 0;
}

static int read_growing_piece(struct file_reader *reader, struct file_place place,
			      const struct found_file *found, uint64_t offset, void *buf,
			      size_t size_bytes, size_t *ret_bytes, uint64_t *ret_file_bytes)
{
	struct file_request request = {
		.kind = FILE_READ_GROWING,
		.offset = offset,
		.size_bytes = size_bytes < FILE_PIECE_MAX ? size_bytes : FILE_PIECE_MAX,
	};
	AUTO_CLOSE int none = -1;
	int err = ask(reader, place, &request, found->fd, &none);

	if (err)
		return err;
	if (reader->reply.size_bytes > request.size_bytes)
		return -EIO;
	memcpy(buf, reader->reply.bytes, reader->reply.size_bytes);
	*ret_bytes = reader->reply.size_bytes;
	*ret_file_bytes = reader->reply.file_bytes;
	return 0;
}

static int read_growing_direct(const struct found_file *found, uint64_t offset, void *buf,
			       size_t size_bytes, size_t *ret_bytes, uint64_t *ret_file_bytes)
{
	ssize_t got = pread(found->fd, buf, size_bytes, (off_t)offset);
	struct stat st;

	if (got < 0 || fstat(found->fd, &st))
		return -errno;
	*ret_bytes = (size_t)got;
	*ret_file_bytes = (uint64_t)st.st_size;
	return 0;
}

int file_reader_growing(struct file_reader *reader, struct file_place place,
			const struct found_file *found, uint64_t offset, void *buf,
			size_t size_bytes, size_t *ret_bytes, uint64_t *ret_file_bytes)
{
	size_t done = 0, got;
	int err;

	do {
		uint8_t *to = (uint8_t *)buf + done;

		if (found->direct)
			err = read_growing_direct(found, offset + done, to, size_bytes - done, &got,
						  ret_file_bytes);
		else
			err = read_growing_piece(reader, place, found, offset + done, to,
						 size_bytes - done, &got, ret_file_bytes);
		if (err)
			return err;
		done += got;
	} while (got && done < size_bytes);
	*ret_bytes = done;
	return 0;
}

int file_reader_memory(struct file_reader *reader, uint32_t pid, uint64_t address, void *buf,
		       size_t size_bytes, size_t *ret_bytes)
{
	struct file_place place = {.kind = FILE_PLACE_MEMORY, .a = pid};
	size_t done = 0, piece, got;
	int err;

	do {
		struct file_request request = {.kind = FILE_READ_MEMORY, .pid = pid};
		AUTO_CLOSE int none = -1;

		piece = size_bytes - done < FILE_PIECE_MAX ? size_bytes - done : FILE_PIECE_MAX;
		request.address = address + done;
		request.size_bytes = piece;
		err = ask(reader, place, &request, -1, &none);
		got = err ? 0 : reader->reply.size_bytes;
		if (got > piece)
			return -EIO;
		memcpy((uint8_t *)buf + done, reader->reply.bytes, got);
		done += got;
	} while (got == piece && done < size_bytes);
	if (!done)
		return err ?: -EFAULT;
	*ret_bytes = done;
	return 0;
}
