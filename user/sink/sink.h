/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An output format. A sink is fed while recording, where it wants single
 * samples, and once at the end.
 */
#ifndef JITBPF_SINK_SINK_H
#define JITBPF_SINK_SINK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/string_pool.h"
#include "locate/location.h"
#include "profile/profile.h"
#include "profile/thread_counts.h"
#include "sink/view_options.h"
#include "state/process/module_table.h"
#include "symbolize/frame_table.h"

struct ledger;

/* What was recorded. Strings are never NULL. */
struct run_info {
	uint64_t start_ns;	/* CLOCK_MONOTONIC */
	uint64_t duration_ns;	/* first to last round */
	uint64_t wall_clock_ns; /* CLOCK_REALTIME at start_ns */
	uint32_t freq_hz;
	uint32_t cpus;
	const char *event;   /* "cpu-clock", "cycles" */
	const char *command; /* "" for the whole system */
	const char *host;
	const char *kernel; /* release */
};

/* Everything that is known, to read from. Borrowed, valid during the call. */
struct view {
	const struct run_info *info;
	const struct string_pool *strings;
	const struct module_table *modules; /* whose numbers native locations have as owner */
	const struct location_table *locations;
	const struct frame_table *frames; /* complete in finish() */
	const struct profile *profile;
	const struct ledger *ledger;
	const struct thread_counts *threads; /* the samples of the profile by node and thread */
	uint32_t epoch; /* counts up from 0; numbers mean nothing in another one */
	uint32_t round; /* counts up; see ledger_process.changed_round */
	/*
	 * Applied by a sink when it reads, see shown_profile.h: all of the above
	 * holds everything, whatever the options are.
	 */
	struct view_options options;
};

/*
 * One sample. They come in order of time, but for those whose stacks had to be finished first.
 * Borrowed, valid during the call.
 */
struct sink_sample {
	uint64_t time_ns;
	uint32_t pid, tid, cpu;
	uint32_t comm;		/* the thread's: number in the string pool */
	uint32_t node;		/* its stack: a node of the profile */
	uint32_t count;		/* the count of its node and thread: index in view.threads */
	const uint64_t *ips;	/* as sampled: kernel leaf first, then user leaf first, */
	uint32_t kernel_frames; /* one to one with the locations on the path from */
	uint32_t user_frames;	/* node to root */
	const struct jitbpf_user_regs *regs; /* NULL: none */
};

/* JIT code that came, or that its engine said is gone. Borrowed, valid during the call. */
struct sink_code {
	uint64_t time_ns;
	uint32_t process; /* number, as in the profile */
	uint32_t pid, tid;
	uint32_t comm;		      /* the process's: number in the string pool */
	uint64_t method_id;	      /* 0: none was said */
	uint64_t address, size_bytes; /* of what is gone: as far as it was said */
	bool gone;
	const struct code_region *region; /* NULL: gone, or overwritten as soon as it came */
};

struct sink; /* each format's own */

struct sink_ops {
	const char *name;      /* as in -f */
	const char *extension; /* as in -o: ".folded"; no two are the end of one file name */
	/* Returns 0 and sets *ret, or -ENOMEM. out is borrowed until destroy. */
	int (*create)(FILE *out, struct sink **ret);
	/* Take a sample. NULL: not interested. Returns 0 or -ENOMEM. */
	int (*sample)(struct sink *sink, const struct view *view, const struct sink_sample *sample);
	/* Take a change of JIT code, in order of time. NULL: not interested. */
	int (*code)(struct sink *sink, const struct view *view, const struct sink_code *code);
	/*
	 * Live views have these, instead of finish(). subscribed(): rounds begin; the
	 * sink has not seen the samples before. round(): look at a view after a round,
	 * at the period of the subscription, the views of closing epochs before the
	 * current one. Returns 0, 1 (call again after the next round) or negative errno.
	 */
	void (*subscribed)(struct sink *sink);
	int (*round)(struct sink *sink, const struct view *view, uint64_t time_ns);
	/* Write everything. Returns 0, or negative errno (out's error too). */
	int (*finish)(struct sink *sink, const struct view *view);
	void (*destroy)(struct sink *sink);
};

extern const struct sink_ops sink_firefox;
extern const struct sink_ops sink_folded;
extern const struct sink_ops sink_html;
extern const struct sink_ops sink_pprof;
extern const struct sink_ops sink_script;
extern const struct sink_ops sink_speedscope;
extern const struct sink_ops sink_summary;
extern const struct sink_ops sink_summary_json;

/* By name or by the extension of a file name; NULL where there is none. */
const struct sink_ops *sink_by_name(const char *name);
const struct sink_ops *sink_by_path(const char *path);

#endif
