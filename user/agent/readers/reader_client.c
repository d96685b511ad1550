/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/readers/reader_client.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/readers/reader_calls.h"
#include "base/hash.h"
#include "base/index_map.h"
#include "base/scope.h"

#define START_NS  30000000000ull /* limit for the start of a process */
#define RETRY_NS  1000000000ull	 /* after a start that failed */
#define LOOKED_AT 8		 /* known modules that a request looks at: they may be gone */

/* A module for which processes have failed. */
struct strike {
	uint32_t module, count;
};

struct reader_client {
	struct reader_options options;
	struct reader_calls calls;
	int socket, pidfd;	   /* -1: there is no process */
	struct reader_meter meter; /* of the process */
	uint64_t retry_ns;	   /* earliest time of the next start */
	message_bytes in;
	VEC(const struct module *) known; /* modules that the process knows, held */
	struct index_map index;		  /* of them, by number */
	uint32_t next;			  /* of them, to look at */
	VEC(struct strike) strikes;
	uint64_t failures;
};

struct reader_module reader_module_of(const struct module *module)
{
	struct reader_module ret = {
		.number = module->number,
		.build_id_bytes = module->build_id_bytes,
	};

	memcpy(ret.build_id, module->build_id, sizeof(ret.build_id));
	return ret;
}

int reader_client_create(const struct reader_options *options, struct reader_client **ret)
{
	struct reader_client *client = calloc(1, sizeof(*client));

	if (!client)
		return -ENOMEM;
	client->options = *options;
	client->calls.source = options->files;
	client->socket = client->pidfd = -1;
	client->meter = reader_meter_unknown;
	*ret = client;
	return 0;
}

static void end_process(struct reader_client *client)
{
	if (client->pidfd >= 0)
		syscall(SYS_pidfd_send_signal, client->pidfd, SIGKILL, NULL, 0);
	scope_close(&client->pidfd);
	scope_close(&client->socket);
	client->socket = client->pidfd = -1;
	reader_meter_close(&client->meter);
	reader_calls_close(&client->calls);
	vec_for_each (module, &client->known)
		module_release(*module);
	client->known.size = 0;
	index_map_deinit(&client->index);
}

void reader_client_destroy(struct reader_client *client)
{
	if (!client)
		return;
	end_process(client);
	vec_deinit(&client->known);
	vec_deinit(&client->strikes);
	vec_deinit(&client->in);
	free(client);
}

static int start_process(struct reader_client *client)
{
	const struct reader_settings settings = {
		.no_demangle = client->options.no_demangle,
		.symbols_bytes = client->options.symbols_bytes,
	};
	struct reader_limit limit = reader_limit_begin(&reader_meter_unknown, START_NS);
	pid_t pid;
	int err;

	if (client->socket >= 0)
		return 0;
	client->retry_ns = clock_now_ns() + RETRY_NS;
	client->socket = broker_connect(client->options.broker, ROLE_READER);
	if (client->socket < 0)
		return -EIO;
	if (fcntl(client->socket, F_SETFL, O_NONBLOCK))
		return -errno;
	err = reader_receive(client->socket, &client->in, &client->pidfd, &limit);
	if (err != READER_STARTED || client->pidfd < 0 || client->in.size != sizeof(pid))
		return -EIO;
	memcpy(&pid, client->in.data, sizeof(pid));
	reader_meter_open(pid, client->pidfd, &client->meter);
	err = reader_send(client->socket, READER_SETTINGS, &settings, sizeof(settings), -1, &limit);
	if (!err)
		client->retry_ns = 0;
	return err;
}

static struct strike *strikes_of(struct reader_client *client, const struct module *module)
{
	vec_for_each (strike, &client->strikes) {
		if (module && strike->module == module->number)
			return strike;
	}
	return NULL;
}

static void fail(struct reader_client *client)
{
	client->failures++;
	(*client->options.failures)++;
	end_process(client);
}

static void strike(struct reader_client *client, const struct module *module)
{
	struct strike *known = strikes_of(client, module);

	if (known)
		known->count++;
	else if (module) /* without memory, the module is tried again */
		(void)vec_push(&client->strikes, ((struct strike){module->number, 1}));
	fail(client);
}

static bool has_number(const void *modules, uint32_t item, const void *number)
{
	return ((const struct module *const *)modules)[item]->number == *(const uint32_t *)number;
}

/* Remove a module from the known ones, and release it. */
static void remove_known(struct reader_client *client, uint32_t at)
{
	uint32_t last = (uint32_t)client->known.size - 1;
	const struct module *module = client->known.data[at], *moved = client->known.data[last];

	index_map_remove(&client->index, hash_mix(module->number, 0), at);
	if (at != last) {
		index_map_remove(&client->index, hash_mix(moved->number, 0), last);
		client->known.data[at] = moved;
		/* Two entries were removed, so there is room. */
		(void)index_map_insert(&client->index, hash_mix(moved->number, 0), at);
	}
	client->known.size--;
	module_release(module);
}

/*
 * Let the process forget modules that are gone: no request will be about these any more. Looks at
 * some of the known ones, those that were not looked at for longest. requested: it stays. Returns 0
 * or the socket's error.
 */
static int forget_modules(struct reader_client *client, const struct module *requested,
			  const struct reader_limit *limit)
{
	int err = 0;

	for (uint32_t i = 0; i < LOOKED_AT && client->known.size && !err; i++) {
		uint32_t at = client->next < client->known.size ? client->next : 0;
		const struct module *module = client->known.data[at];

		client->next = at + 1;
		if (module == requested || !module_is_dropped(module))
			continue;
		err = reader_send(client->socket, READER_FORGET, &module->number,
				  sizeof(module->number), -1, limit);
		remove_known(client, at);
		client->next = at; /* there is another one in its place */
	}
	return err;
}

/* The request makes the process know a module. Returns 0 or -ENOMEM. */
static int know(struct reader_client *client, const struct module *module)
{
	uint32_t at;

	if (!module || index_map_find(&client->index, hash_mix(module->number, 0), has_number,
				      client->known.data, &module->number) != INDEX_MAP_NONE)
		return 0;
	at = (uint32_t)client->known.size;
	if (vec_reserve(&client->known, at + 1) ||
	    index_map_insert(&client->index, hash_mix(module->number, 0), at))
		return -ENOMEM;
	client->known.data[client->known.size++] = module_hold(module);
	return 0;
}

/* Serve calls until the answer is there. The time that they take is the files', not the reader's.
 */
static int converse(struct reader_client *client, const struct reader_request *request)
{
	struct reader_limit limit =
		reader_limit_begin(&client->meter, client->options.answer_ms * 1000000ull);
	int err = forget_modules(client, request->module, &limit), kind;

	err = err ?: know(client, request->module);
	err = err
		      ?: reader_send(client->socket, request->kind, request->bytes,
				     request->size_bytes, -1, &limit);
	while (!err) {
		AUTO_CLOSE int none = -1;
		uint64_t began_ns;

		kind = reader_receive(client->socket, &client->in, &none, &limit);
		if (kind < 0 || kind == (int)request->answer)
			return kind < 0 ? kind : 0;
		began_ns = clock_now_ns();
		err = reader_calls_serve(&client->calls, client->socket, kind, &client->in,
					 request->module, &limit);
		reader_limit_excuse(&limit, clock_now_ns() - began_ns);
	}
	return err;
}

static int begin_process(struct reader_client *client)
{
	int err = start_process(client);

	if (err && broker_is_lost(client->options.broker))
		end_process(client); /* that is no failure of a reader */
	else if (err)
		fail(client);
	return err;
}

void reader_client_begin(struct reader_client *client)
{
	(void)begin_process(client);
}

/* A request of one process. */
static int ask_once(struct reader_client *client, const struct reader_request *request)
{
	const struct strike *known = strikes_of(client, request->module);
	int err;

	if (known && known->count >= READER_STRIKES)
		return -EIO;
	if (begin_process(client))
		return -EIO;
	err = converse(client, request);
	return err ? reader_client_refuse(client, request->module) : 0;
}

int reader_client_ask(struct reader_client *client, const struct reader_request *request,
		      const message_bytes **ret)
{
	int err = -EIO;

	if (client->socket < 0 && clock_now_ns() < client->retry_ns)
		return -EIO;
	for (int i = 0; err && i < READER_STRIKES; i++)
		err = ask_once(client, request);
	if (!err)
		*ret = &client->in;
	return err;
}

int reader_client_refuse(struct reader_client *client, const struct module *module)
{
	strike(client, module);
	return -EIO;
}

uint64_t reader_client_failures(const struct reader_client *client)
{
	return client->failures;
}
