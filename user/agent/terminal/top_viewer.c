/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/terminal/top_viewer.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/roles/fd_message.h"
#include "agent/roles/identity.h"
#include "agent/roles/privileges.h"
#include "agent/roles/role.h"
#include "agent/terminal/curses_screen.h"
#include "base/scope.h"
#include "base/vec.h"
#include "sink/live/delta_reader.h"
#include "sink/top/top_ui.h"

#define READ_BYTES    (256u << 10)
#define DELTA_MAX     (64u << 20)
#define PROFILE_BYTES (512u << 20)
#define PERIOD_NS     500000000ull /* at least, from one update of the screen to the next */
#define REST	      4		   /* the viewer rests that many times as long as an update took */

struct viewer {
	int signals; /* signalfd */
	int stream;  /* of deltas; -1: it has ended */
	pid_t group; /* our process group */
	VEC(uint8_t) received;
	struct delta_profile profile;
	struct top_ui *ui;
	struct top_canvas canvas;
	uint64_t due_ns; /* of the next update */
	bool changed;	 /* since the last update */
	bool drawn;	 /* the screen shows the state */
	bool away;	 /* the screen is left */
};

/* --- ends ------------------------------------------------------------------------------ */

/* A shell that has taken over the terminal sets its modes itself. */
static bool has_terminal(const struct viewer *viewer)
{
	pid_t group = tcgetpgrp(STDIN_FILENO);

	return group < 0 || group == viewer->group;
}

static _Noreturn void leave(const struct viewer *viewer, int status)
{
	if (!viewer->away)
		curses_screen_leave(has_terminal(viewer));
	_exit(status);
}

static void check(const struct viewer *viewer, int err)
{
	if (err)
		leave(viewer, VIEWER_FAILED);
}

static void answer(int err, bool restoring)
{
	struct viewer_answer message = {.err = err};

	if (restoring)
		message.restoring_bytes = (uint32_t)curses_screen_restoring(
			message.restoring, sizeof(message.restoring));
	fd_message_send(FD_MESSAGE_SOCKET, &message, sizeof(message), -1);
}

/* --- data ------------------------------------------------------------------------------ */

/* Apply the deltas that are complete. A size of 0 is the end of the run. */
static int apply(struct viewer *viewer)
{
	size_t at = 0, size = viewer->received.size;
	int err = 0;

	while (!err && size - at >= sizeof(uint32_t)) {
		uint32_t bytes;

		memcpy(&bytes, viewer->received.data + at, sizeof(bytes));
		bytes = le32toh(bytes);
		if (bytes > DELTA_MAX)
			return -EBADMSG;
		if (size - at - sizeof(uint32_t) < bytes)
			break;
		at += sizeof(uint32_t);
		if (bytes)
			err = delta_profile_apply(&viewer->profile, viewer->received.data + at,
						  bytes);
		at += bytes;
		viewer->changed |= viewer->profile.complete;
	}
	if (at)
		memmove(viewer->received.data, viewer->received.data + at, size - at);
	viewer->received.size = size - at;
	return err;
}

static int read_stream(struct viewer *viewer)
{
	ssize_t got;

	if (vec_reserve(&viewer->received, viewer->received.size + READ_BYTES))
		return -ENOMEM;
	got = recv(viewer->stream, viewer->received.data + viewer->received.size, READ_BYTES,
		   MSG_DONTWAIT);
	if (got > 0) {
		viewer->received.size += (size_t)got;
		return apply(viewer);
	}
	if (!got || (errno != EAGAIN && errno != EINTR)) {
		close(viewer->stream);
		viewer->stream = -1;
	}
	return 0;
}

/* Update the screen if that is due. After a slow update, the next one is due REST times later. */
static int update(struct viewer *viewer)
{
	uint64_t begin_ns = clock_now_ns(), rest_ns;
	int err;

	if (!viewer->changed || !viewer->profile.complete || begin_ns < viewer->due_ns)
		return 0;
	err = top_ui_update(viewer->ui, &viewer->profile.view);
	rest_ns = REST * (clock_now_ns() - begin_ns);
	viewer->due_ns = begin_ns + (rest_ns > PERIOD_NS ? rest_ns : PERIOD_NS);
	viewer->changed = viewer->drawn = false;
	return err;
}

static int draw(struct viewer *viewer)
{
	uint32_t rows, columns;
	int err;

	if (viewer->away || viewer->drawn)
		return 0;
	curses_screen_size(&rows, &columns);
	err = top_ui_draw(viewer->ui, rows, columns, &viewer->canvas);
	if (!err)
		curses_screen_show(&viewer->canvas);
	viewer->drawn = true;
	return err;
}

/* --- events ---------------------------------------------------------------------------- */

static int take_keys(struct viewer *viewer)
{
	uint32_t key;
	int err = 0;

	while (!err && (key = curses_screen_key()) != CURSES_NO_KEY)
		err = top_ui_key(viewer->ui, key);
	viewer->drawn = false;
	if (!err && top_ui_quits(viewer->ui))
		leave(viewer, VIEWER_BY_USER);
	return err;
}

static void take_signal(struct viewer *viewer)
{
	struct signalfd_siginfo heard;

	while (read(viewer->signals, &heard, sizeof(heard)) == sizeof(heard)) {
		if (heard.ssi_signo != SIGWINCH)
			leave(viewer, VIEWER_BY_USER);
		if (!viewer->away)
			curses_screen_resize();
		viewer->drawn = false;
	}
}

static void take_request(struct viewer *viewer)
{
	struct viewer_request request;
	int fd;

	if (fd_message_receive(FD_MESSAGE_SOCKET, &request, sizeof(request), &fd) !=
	    sizeof(request))
		leave(viewer, VIEWER_FAILED); /* the recorder has ended */
	scope_close(&fd);
	switch (request.order) {
	case VIEWER_LEAVE:
		curses_screen_leave(true);
		viewer->away = true;
		answer(0, false);
		break;
	case VIEWER_ENTER:
		viewer->away = viewer->drawn = false;
		curses_screen_enter();
		break;
	case VIEWER_ENDED:
		top_ui_end(viewer->ui);
		viewer->drawn = false;
		break;
	default:
		leave(viewer, VIEWER_BY_USER);
	}
}

static int wait_ms(const struct viewer *viewer)
{
	uint64_t now_ns = clock_now_ns();

	if (!viewer->changed)
		return -1;
	return now_ns < viewer->due_ns ? (int)((viewer->due_ns - now_ns) / 1000000 + 1) : 0;
}

static void turn(struct viewer *viewer)
{
	struct pollfd waiting[] = {
		{.fd = viewer->away ? -1 : STDIN_FILENO, .events = POLLIN},
		{.fd = FD_MESSAGE_SOCKET, .events = POLLIN},
		{.fd = viewer->stream, .events = POLLIN},
		{.fd = viewer->signals, .events = POLLIN},
	};

	if (poll(waiting, ARRAY_SIZE(waiting), wait_ms(viewer)) < 0)
		return;
	if (waiting[1].revents)
		take_request(viewer);
	if (waiting[3].revents)
		take_signal(viewer);
	if (waiting[2].revents)
		check(viewer, read_stream(viewer));
	if (waiting[0].revents & POLLIN)
		check(viewer, take_keys(viewer));
	else if (waiting[0].revents)
		leave(viewer, VIEWER_BY_USER); /* the terminal is gone */
	if (!waiting[2].revents)	       /* all that is there has been read */
		check(viewer, update(viewer));
	check(viewer, draw(viewer));
}

/* --- the process ----------------------------------------------------------------------- */

/* Ctrl-C and Ctrl-Z are for the recorder, which tells us. */
static int take_signals(void)
{
	static const int ignored[] = {SIGINT, SIGQUIT, SIGTSTP, SIGTTOU, SIGTTIN, SIGPIPE};
	sigset_t taken;

	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&taken);
	sigaddset(&taken, SIGTERM);
	sigaddset(&taken, SIGHUP);
	sigaddset(&taken, SIGWINCH);
	sigprocmask(SIG_SETMASK, &taken, NULL);
	return signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Wait for VIEWER_SHOW, and open the terminal: the last files are read. */
static void begin(struct viewer *viewer)
{
	struct viewer_request request;
	int err;

	if (fd_message_receive(FD_MESSAGE_SOCKET, &request, sizeof(request), &viewer->stream) !=
		    sizeof(request) ||
	    request.order != VIEWER_SHOW || viewer->stream < 0)
		_exit(VIEWER_FAILED); /* the run has failed before anything was shown */
	request.event[sizeof(request.event) - 1] = 0;
	request.view.event = NULL; /* the profile has all events */
	delta_profile_init(&viewer->profile, &request.view, PROFILE_BYTES);
	err = top_ui_create(&request.view, &viewer->ui);
	if (!err)
		top_ui_set_window(viewer->ui, request.window_ns);
	if (!err && *request.event)
		top_ui_set_event(viewer->ui, request.event);
	err = err ?: curses_screen_open();
	if (err) {
		answer(err, false);
		_exit(VIEWER_FAILED);
	}
	err = role_enter(ROLE_VIEWER, 0);
	answer(err, true);
	check(viewer, err);
}

_Noreturn void top_viewer_run(int socket)
{
	struct viewer viewer = {.stream = -1, .group = getpgrp()};
	int err;

	prctl(PR_SET_NAME, role_rules(ROLE_VIEWER)->name);
	fd_message_keep_only(socket, STDERR_FILENO);
	viewer.signals = take_signals();
	err = viewer.signals < 0
		      ? -errno
		      : identity_take(role_rules(ROLE_VIEWER)->id, role_rules(ROLE_VIEWER)->id);
	err = err ?: privileges_keep(0, 0);
	err = err ?: curses_screen_load();
	answer(err, false);
	if (err)
		_exit(VIEWER_FAILED);
	begin(&viewer);
	for (;;)
		turn(&viewer);
}
