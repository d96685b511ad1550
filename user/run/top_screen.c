/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/top_screen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "agent/roles/fd_message.h"
#include "agent/server/live_streams.h"
#include "agent/terminal/top_viewer.h"
#include "base/scope.h"
#include "run/messages/say.h"
#include "sink/live/live_sink.h"

#define PERIOD_NS      1000000000ull
#define ANSWER_MS      5000 /* for the viewer to open the terminal, which may be slow */
#define END_MS	       2000 /* for the viewer to restore it */
#define STEP_MS	       10
#define MESSAGES_BYTES 65536 /* of the messages that are printed at the end: the last ones */

struct top_screen {
	pid_t viewer;	      /* 0: it has ended */
	int socket;	      /* to it; -1: none */
	int stops;	      /* signalfd for SIGTSTP; -1: none */
	struct termios modes; /* of the terminal, before */
	struct viewer_answer answer;
	bool shown, failed;
	int messages, standard_error; /* -1: messages go to standard error */
	struct pipeline *pipeline;
	struct live_feed *feed;
	struct sink *sink; /* the pipeline's */
	struct live_streams *streams;
	bool subscribed;
};

bool top_screen_is_possible(bool once)
{
	pid_t group = tcgetpgrp(STDIN_FILENO);

	if (once || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		say("jitbpf top: %s; for a text, run 'jitbpf record', then 'jitbpf report -f "
		    "top profile.jitbpf'\n",
		    once ? "it shows a screen until it is ended"
			 : "standard input and output must be a terminal");
		return false;
	}
	if (group >= 0 && group != getpgrp()) {
		say("jitbpf top: it needs the terminal, but runs in the background\n");
		return false;
	}
	return true;
}

/* --- the viewer ------------------------------------------------------------------------ */

/* Wait for an answer of the viewer. Returns its error, or -EPIPE if there is none. */
static int take_answer(struct top_screen *screen)
{
	struct pollfd readable = {.fd = screen->socket, .events = POLLIN};
	struct viewer_answer answer;
	int fd = -1;

	if (poll(&readable, 1, ANSWER_MS) <= 0 ||
	    fd_message_receive(screen->socket, &answer, sizeof(answer), &fd) != sizeof(answer))
		return -EPIPE;
	scope_close(&fd);
	if (answer.restoring_bytes > RESTORING_BYTES)
		return -EPIPE;
	if (answer.restoring_bytes)
		screen->answer = answer;
	return answer.err;
}

static int send_order(struct top_screen *screen, enum viewer_order order)
{
	const struct viewer_request request = {.order = order};

	return screen->socket < 0 ? -EPIPE
				  : fd_message_send(screen->socket, &request, sizeof(request), -1);
}

static int complain(int err)
{
	const char *type = getenv("TERM");

	if (err == -ENOSYS)
		say("jitbpf top: libncursesw.so.6 is not installed (Debian and Ubuntu: "
		    "apt install libncursesw6)\n");
	else if (err == -ENOTTY)
		say("jitbpf top: the terminal is not known: TERM is '%s'\n", type ?: "");
	else if (err)
		say("jitbpf top: starting the screen: %s\n", strerror(-err));
	return err;
}

int top_screen_prepare(struct top_screen **ret)
{
	struct top_screen *screen = calloc(1, sizeof(*screen));
	int sockets[2], err;

	*ret = screen;
	if (!screen)
		return complain(-ENOMEM);
	screen->socket = screen->stops = screen->messages = screen->standard_error = -1;
	if (tcgetattr(STDIN_FILENO, &screen->modes))
		return complain(-errno);
	err = fd_message_pair(sockets);
	if (err)
		return complain(err);
	screen->viewer = fork();
	if (!screen->viewer)
		top_viewer_run(sockets[1]);
	close(sockets[1]);
	screen->socket = sockets[0];
	if (screen->viewer < 0) {
		err = -errno;
		screen->viewer = 0;
		return complain(err);
	}
	return complain(take_answer(screen));
}

/* --- messages -------------------------------------------------------------------------- */

static void keep_messages(struct top_screen *screen)
{
	if (!isatty(STDERR_FILENO))
		return;
	fflush(stderr);
	screen->messages = memfd_create("jitbpf-messages", MFD_CLOEXEC);
	screen->standard_error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (screen->messages >= 0 && screen->standard_error >= 0)
		dup2(screen->messages, STDERR_FILENO);
}

static void print_messages(struct top_screen *screen)
{
	static char buf[MESSAGES_BYTES];
	off_t end;
	ssize_t got;

	if (screen->standard_error < 0)
		return;
	fflush(stderr);
	dup2(screen->standard_error, STDERR_FILENO);
	close(TAKE_FD(screen->standard_error));
	if (screen->messages < 0)
		return;
	end = lseek(screen->messages, 0, SEEK_END);
	got = pread(screen->messages, buf, sizeof(buf),
		    end > (off_t)sizeof(buf) ? end - (off_t)sizeof(buf) : 0);
	if (got > 0)
		fwrite(buf, 1, (size_t)got, stderr);
	close(TAKE_FD(screen->messages));
}

/* --- the run --------------------------------------------------------------------------- */

/* SIGTSTP comes through a descriptor: the viewer must leave the screen before we stop. */
static int take_stops(struct top_screen *screen)
{
	sigset_t stops;

	sigemptyset(&stops);
	sigaddset(&stops, SIGTSTP);
	sigprocmask(SIG_BLOCK, &stops, NULL);
	screen->stops = signalfd(-1, &stops, SFD_CLOEXEC | SFD_NONBLOCK);
	return screen->stops < 0 ? -errno : 0;
}

/* Give the viewer the deltas, and let it open the terminal. */
static int start_viewer(struct top_screen *screen, const struct view_options *view,
			uint64_t window_ns)
{
	struct viewer_request request = {
		.order = VIEWER_SHOW,
		.view = *view,
		.window_ns = window_ns,
	};
	int sockets[2], err;

	snprintf(request.event, sizeof(request.event), "%s", view->event ?: "");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	err = fd_message_send(screen->socket, &request, sizeof(request), sockets[1]);
	close(sockets[1]);
	if (err)
		close(sockets[0]);
	else
		err = live_streams_add(screen->streams, sockets[0]);
	screen->shown = true; /* whatever the viewer has done by then */
	return err ?: take_answer(screen);
}

int top_screen_show(struct top_screen *screen, struct pipeline *pipeline,
		    const struct view_options *view, uint64_t window_ns)
{
	int err = live_feed_create(&screen->feed);

	screen->pipeline = pipeline;
	err = err ?: live_streams_create(screen->feed, &screen->streams);
	err = err ?: live_sink_create(live_feed_publish, screen->feed, DELTA_BYTES, &screen->sink);
	err = err ?: pipeline_add_live(pipeline, &sink_live, screen->sink);
	err = err ?: take_stops(screen);
	err = err ?: start_viewer(screen, view, window_ns);
	if (err) {
		top_screen_end(screen);
		return complain(err);
	}
	keep_messages(screen);
	screen->subscribed = !pipeline_subscribe(pipeline, screen->sink, PERIOD_NS);
	return 0;
}

void top_screen_fds(const struct top_screen *screen, int ret[TOP_SCREEN_FDS])
{
	ret[0] = screen ? screen->socket : -1;
	ret[1] = screen ? screen->stops : -1;
}

/* Remove the screen, stop this process as Ctrl-Z does, and restore the screen when it continues. */
static void suspend(struct top_screen *screen)
{
	struct signalfd_siginfo heard;
	sigset_t stops;

	while (read(screen->stops, &heard, sizeof(heard)) == sizeof(heard))
		;
	if (send_order(screen, VIEWER_LEAVE) || take_answer(screen))
		return; /* the viewer hangs, or has ended, which the next round sees */
	sigemptyset(&stops);
	sigaddset(&stops, SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stops, NULL);
	raise(SIGTSTP);
	sigprocmask(SIG_BLOCK, &stops, NULL);
	send_order(screen, VIEWER_ENTER);
}

bool top_screen_round(struct top_screen *screen)
{
	struct pollfd waiting[TOP_SCREEN_FDS] = {{.events = POLLIN}, {.events = POLLIN}};

	if (!screen)
		return true;
	live_streams_reap(screen->streams);
	waiting[0].fd = screen->socket;
	waiting[1].fd = screen->stops;
	if (poll(waiting, TOP_SCREEN_FDS, 0) <= 0)
		return true;
	if (waiting[0].revents) /* the viewer says nothing unasked: it has ended */
		return false;
	if (waiting[1].revents)
		suspend(screen);
	return true;
}

void top_screen_say_ended(struct top_screen *screen)
{
	send_order(screen, VIEWER_ENDED);
}

/* --- the end --------------------------------------------------------------------------- */

/* Restore the terminal for a viewer that was killed. */
static void restore(const struct top_screen *screen)
{
	void (*before)(int) = signal(SIGTTOU, SIG_IGN);

	if (write(STDOUT_FILENO, screen->answer.restoring, screen->answer.restoring_bytes) >= 0)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &screen->modes);
	signal(SIGTTOU, before);
}

static void end_viewer(struct top_screen *screen)
{
	int status = 0;
	pid_t ended = 0;

	send_order(screen, VIEWER_QUIT);
	if (screen->socket >= 0)
		close(TAKE_FD(screen->socket));
	for (int ms = 0; ms < END_MS && !ended; ms += STEP_MS) {
		ended = waitpid(screen->viewer, &status, WNOHANG);
		if (!ended)
			poll(NULL, 0, STEP_MS);
	}
	if (!ended) { /* the terminal takes no output */
		kill(screen->viewer, SIGKILL);
		waitpid(screen->viewer, &status, 0);
	}
	screen->viewer = 0;
	if (!screen->shown || (WIFEXITED(status) && WEXITSTATUS(status) == VIEWER_BY_USER))
		return;
	screen->failed = true;
	restore(screen);
	if (screen->standard_error >= 0)
		say("jitbpf top: the process that draws the screen has failed, so the "
		    "run ends: 'jitbpf record' and 'jitbpf report -f top' need no "
		    "screen\n");
}

int top_screen_end(struct top_screen *screen)
{
	if (!screen)
		return 0;
	if (screen->viewer)
		end_viewer(screen);
	print_messages(screen);
	if (screen->subscribed)
		pipeline_unsubscribe(screen->pipeline, screen->sink);
	screen->subscribed = false;
	if (screen->feed)
		live_feed_end(screen->feed);
	live_streams_destroy(TAKE_PTR(screen->streams), 0);
	scope_close(&screen->stops);
	screen->stops = -1;
	return screen->failed ? -EIO : 0;
}

void top_screen_destroy(struct top_screen *screen)
{
	if (!screen)
		return;
	top_screen_end(screen);
	live_feed_destroy(screen->feed);
	free(screen);
}
