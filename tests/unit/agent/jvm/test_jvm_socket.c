/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/jvm/jvm_socket.h"
#include "tests/unit/cases.h"

#define SOON_NS 100000000ull
#define LONG_NS 20000000000ull

static const char *const arguments[JVM_ARGUMENTS] = {"/agent", "true"};

/* A listener in this process, and what it answers. */
struct socket_test {
	char folder[32];
	int folder_fd, listener, stop[2];
	const char *answer; /* repeated for ever if endless; NULL: none */
	bool endless;
	char heard[64];
	ssize_t heard_bytes;
	pthread_t thread;
	struct jvm_socket socket;
};

static void *serve(void *test_)
{
	struct socket_test *test = test_;
	int fd = accept(test->listener, NULL, NULL);
	char none;

	if (fd < 0)
		return NULL;
	if (!test->endless)
		test->heard_bytes = recv(fd, test->heard, sizeof(test->heard), 0);
	if (!test->answer)
		while (recv(fd, &none, 1, 0) > 0)
			;
	else
		do
			none = send(fd, test->answer, strlen(test->answer), MSG_NOSIGNAL) > 0;
		while (test->endless && none);
	close(fd);
	return NULL;
}

static int set_up(void **state)
{
	struct socket_test *test = calloc(1, sizeof(*test));
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	strcpy(test->folder, "/tmp/jitbpf-socket-XXXXXX");
	assert_non_null(mkdtemp(test->folder));
	test->folder_fd = open(test->folder, O_PATH | O_DIRECTORY);
	assert_int_equal(pipe(test->stop), 0);
	test->listener = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/.java_pid1", test->folder);
	assert_int_equal(bind(test->listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(test->listener, 5), 0);
	test->socket = (struct jvm_socket){
		.folder_fd = test->folder_fd,
		.stop_fd = test->stop[0],
		.name = ".java_pid1",
		.pid = (uint32_t)getpid(),
		.uid = getuid(),
	};
	*state = test;
	return 0;
}

static int tear_down(void **state)
{
	struct socket_test *test = *state;

	shutdown(test->listener, SHUT_RDWR);
	if (test->thread)
		pthread_join(test->thread, NULL);
	close(test->listener);
	unlinkat(test->folder_fd, ".java_pid1", 0);
	rmdir(test->folder);
	close(test->folder_fd);
	close(test->stop[0]);
	close(test->stop[1]);
	free(test);
	return 0;
}

static int call(struct socket_test *test, uint64_t time_ns, struct jvm_answer *ret)
{
	static char room[JVM_ANSWER_BYTES];

	if (!test->thread)
		assert_int_equal(pthread_create(&test->thread, NULL, serve, test), 0);
	return jvm_socket_call(&test->socket, "load", arguments, clock_now_ns() + time_ns, room,
			       ret);
}

CASE_WITH(test_answer, set_up, tear_down)
{
	static const char request[] = "1\0load\0/agent\0true\0";
	struct socket_test *test = *state;
	struct jvm_answer answer;
	int32_t code = 1;

	test->answer = "0\nreturn code: 0\n";
	assert_int_equal(call(test, LONG_NS, &answer), 0);
	assert_true(jvm_answer_return_code(&answer, &code));
	assert_int_equal(code, 0);
	pthread_join(test->thread, NULL);
	test->thread = 0;
	assert_int_equal(test->heard_bytes, sizeof(request));
	assert_memory_equal(test->heard, request, sizeof(request));
}

CASE_WITH(test_bad_answers, set_up, tear_down)
{
	struct socket_test *test = *state;
	struct jvm_answer answer;

	test->answer = "nonsense";
	assert_int_equal(call(test, LONG_NS, &answer), -EBADMSG);
}

CASE_WITH(test_endless_answer, set_up, tear_down)
{
	struct socket_test *test = *state;
	struct jvm_answer answer;

	test->answer = "0\nreturn code: 0\n";
	test->endless = true;
	assert_int_equal(call(test, LONG_NS, &answer), -EBADMSG);
}

CASE_WITH(test_no_answer, set_up, tear_down)
{
	struct socket_test *test = *state;
	struct jvm_answer answer;

	assert_int_equal(call(test, SOON_NS, &answer), -ETIMEDOUT);
}

CASE_WITH(test_stopped, set_up, tear_down)
{
	struct socket_test *test = *state;
	struct jvm_answer answer;

	assert_int_equal(write(test->stop[1], "x", 1), 1);
	assert_int_equal(call(test, LONG_NS, &answer), -ECANCELED);
}

/* Nothing is sent to a listener that is another process, or to another user's file. */
CASE_WITH(test_foreign, set_up, tear_down)
{
	struct socket_test *test = *state;
	uint64_t end_ns = clock_now_ns() + LONG_NS;

	test->socket.pid++;
	assert_int_equal(jvm_socket_connect(&test->socket, end_ns), -EPERM);
	test->socket.pid--;
	test->socket.uid++;
	assert_int_equal(jvm_socket_connect(&test->socket, end_ns), -EPERM);
}

CASE_WITH(test_link, set_up, tear_down)
{
	struct socket_test *test = *state;
	uint64_t end_ns = clock_now_ns() + LONG_NS;

	assert_int_equal(symlinkat(".java_pid1", test->folder_fd, "link"), 0);
	strcpy(test->socket.name, "link");
	assert_int_equal(jvm_socket_connect(&test->socket, end_ns), -EPERM);
	unlinkat(test->folder_fd, "link", 0);
	assert_int_equal(jvm_socket_connect(&test->socket, end_ns), -ENOENT);
}

/* A file that a JVM has left. */
CASE_WITH(test_nobody_listens, set_up, tear_down)
{
	struct socket_test *test = *state;

	shutdown(test->listener, SHUT_RDWR);
	close(test->listener);
	test->listener = -1;
	assert_int_equal(jvm_socket_connect(&test->socket, clock_now_ns() + LONG_NS), -ENOENT);
}
