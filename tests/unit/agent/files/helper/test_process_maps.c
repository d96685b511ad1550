/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Maps read through openers, and openers that do not answer: these are stopped by a signal. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/files/helper/file_service.h"
#include "agent/files/helper/process_maps.h"
#include "agent/roles/fd_message.h"
#include "tests/unit/cases.h"

#define SILENT_PID 1 /* of which the opener of these tests does not know the maps */

static struct broker broker;

/* Answers as an opener does, but not for SILENT_PID while *silent is set. */
static volatile int *silent;
static volatile pid_t *opener; /* that served last */

static void serve(int socket)
{
	static struct file_request request;
	static struct file_reply reply;
	int lifeline;

	while (fd_message_receive(socket, &request, sizeof(request), &lifeline) > 0) {
		*opener = getpid();
		while (request.pid == SILENT_PID && *silent)
			usleep(1000);
		memset(&reply, 0, offsetof(struct file_reply, bytes));
		if (process_maps_serve(socket, lifeline, &request, &reply))
			return;
		close(lifeline);
	}
}

static int setup(void **state)
{
	static const role_fn functions[ROLE_COUNT] = {[ROLE_OPENER] = serve};

	silent = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	*silent = 1;
	opener = silent + 1;
	return broker_start(functions, &broker) || process_maps_create(&broker, (void *)state);
}

static int teardown(void **state)
{
	process_maps_destroy(*state);
	broker_stop(&broker);
	munmap((void *)silent, 4096);
	return 0;
}

/* Read in as many turns as the opener takes. */
static int read_in_turns(struct process_maps *maps, uint32_t pid, process_text *text)
{
	int err;

	do {
		process_maps_begin_turn(maps);
		err = process_maps_read(maps, pid, text);
	} while (err == -EINPROGRESS);
	return err;
}

CASE_WITH(test_reads, setup, teardown)
{
	process_text text = {0}, own = {0};

	assert_int_equal(read_in_turns(*state, (uint32_t)getpid(), &text), 0);
	assert_int_equal(process_maps_read(NULL, (uint32_t)getpid(), &own), 0);
	assert_true(text.size > 100 && own.size > 100);
	assert_non_null(memmem(text.data, text.size, "test_process_maps", 17));
	vec_deinit(&text);
	vec_deinit(&own);
	assert_int_equal(read_in_turns(*state, 0x7fffffff, &text), -ENOENT);
	assert_int_equal(process_maps_unanswered(*state), 0);
}

#define LARGE_COUNT 4000
#define LARGE_BYTES (LARGE_COUNT * 8192ul)

/* Each second page is another mapping. */
static char *map_many(void)
{
	char *memory = mmap(NULL, LARGE_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < LARGE_COUNT; i++)
		mprotect(memory + i * 8192ul, 4096, PROT_READ | PROT_WRITE);
	return memory;
}

static void assert_large(const process_text *text)
{
	assert_true(text->size > 2 * LARGE_COUNT * 40);
	assert_int_equal(text->data[text->size - 1], '\n');
}

CASE_WITH(test_large, setup, teardown)
{
	process_text text = {0};
	char *memory = map_many();

	assert_int_equal(process_maps_read(*state, (uint32_t)getpid(), &text), 0);
	assert_large(&text);
	munmap(memory, LARGE_BYTES);
	vec_deinit(&text);
}

/* The opener waits until the socket has room for the rest of the answer. */
CASE_WITH(test_large_late, setup, teardown)
{
	process_text text = {0};
	char *memory = map_many();
	int err;

	process_maps_begin_turn(*state);
	while (!process_maps_turn_is_over(*state))
		usleep(1000);
	assert_int_equal(process_maps_read(*state, (uint32_t)getpid(), &text), -EINPROGRESS);
	usleep(100000);
	do {
		process_maps_begin_turn(*state);
		err = process_maps_read(*state, (uint32_t)getpid(), &text);
	} while (err == -EINPROGRESS);
	assert_int_equal(err, 0);
	assert_large(&text);
	munmap(memory, LARGE_BYTES);
	vec_deinit(&text);
}

static void pause_now(int number)
{
	(void)number;
	usleep(40000);
}

/* As if this process did not get a CPU for a while: each time a little later in the call. */
CASE_WITH(test_paused, setup, teardown)
{
	process_text text = {0};

	signal(SIGALRM, pause_now);
	for (int i = 1; i <= 40; i++) {
		struct itimerval after = {.it_value.tv_usec = 2 * i};

		setitimer(ITIMER_REAL, &after, NULL);
		assert_int_equal(process_maps_read(*state, (uint32_t)getpid(), &text), 0);
	}
	vec_deinit(&text);
}

CASE_WITH(test_late_answer, setup, teardown)
{
	process_text text = {0};
	int err;

	process_maps_begin_turn(*state);
	/* After MAPS_PATIENCE_NS, it would be -ETIMEDOUT. */
	assert_int_equal(process_maps_read(*state, SILENT_PID, &text), -EINPROGRESS);
	/* Others are read meanwhile. */
	process_maps_begin_turn(*state);
	while ((err = process_maps_read(*state, (uint32_t)getpid(), &text)) == -EINPROGRESS)
		process_maps_begin_turn(*state);
	assert_int_equal(err, 0);
	*silent = 0;
	do {
		process_maps_begin_turn(*state);
		err = process_maps_read(*state, SILENT_PID, &text);
	} while (err == -EINPROGRESS);
	assert_true(!err || err == -EACCES || err == -EPERM);
	assert_int_equal(process_maps_unanswered(*state), 0);
	vec_deinit(&text);
}

CASE_WITH(test_silent, setup, teardown)
{
	process_text text = {0};
	int err;

	do {
		process_maps_begin_turn(*state);
		err = process_maps_read(*state, SILENT_PID, &text);
		usleep(10000);
	} while (err == -EINPROGRESS);
	assert_int_equal(err, -ETIMEDOUT);
	assert_int_equal(process_maps_unanswered(*state), 1);
	assert_int_equal(process_maps_silent(*state, 0), SILENT_PID);
	assert_int_equal(process_maps_silent(*state, 1), 0);
}

static void send_request(int socket, int lifeline)
{
	struct file_request request = {.kind = FILE_READ_MAPS, .pid = (uint32_t)getpid()};

	assert_int_equal(fd_message_send(socket, &request, offsetof(struct file_request, path) + 1,
					 lifeline),
			 0);
}

/*
 * A message arrives while maps are sent. It stands for a sender that loses the CPU between the
 * delivery of its request and the signal that the kernel raises for it.
 */
CASE_WITH(test_message_while_serving, setup, teardown)
{
	static struct file_reply reply;
	char *memory = map_many();
	int lifeline[2], none, served = 0;
	int socket = broker_connect(&broker, ROLE_OPENER);

	assert_true(socket >= 0);
	assert_int_equal(fd_message_pair(lifeline), 0);
	send_request(socket, lifeline[1]);
	assert_true(fd_message_receive(socket, &reply, sizeof(reply), &none) > 0);
	send_request(socket, lifeline[1]);
	while (served < 2) {
		assert_true(fd_message_receive(socket, &reply, sizeof(reply), &none) > 0);
		assert_int_equal(reply.err, 0);
		served += !reply.file_bytes;
	}
	close(socket);
	close(lifeline[0]);
	close(lifeline[1]);
	munmap(memory, LARGE_BYTES);
}

/* An opener without an answer ends with the requester. Its first request has set the signal up. */
CASE_WITH(test_abandoned, setup, teardown)
{
	struct process_maps *maps;
	process_text text = {0};

	assert_int_equal(process_maps_create(&broker, &maps), 0);
	assert_int_equal(read_in_turns(maps, (uint32_t)getpid(), &text), 0);
	process_maps_begin_turn(maps);
	assert_int_equal(process_maps_read(maps, SILENT_PID, &text), -EINPROGRESS);
	assert_int_equal(kill(*opener, 0), 0);
	process_maps_destroy(maps);
	while (!kill(*opener, 0))
		usleep(1000);
	assert_int_equal(errno, ESRCH);
	vec_deinit(&text);
}
