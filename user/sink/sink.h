/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The interface of output formats. A sink reads the complete view in finish(). A sink that needs
 * single samples or changes of JIT code also gets these as they come.
 *
 * A format is a struct sink_ops in sink/format/ (folded.c is a short one), declared at the end of
 * this file and listed in sink.c. Options find it there by name and extension; help texts and the
 * messages of run/outputs/outputs.c have lists of their own.
 */
#ifndef JITBPF_SINK_SINK_H
#define JITBPF_SINK_SINK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/owner_budget.h"
#include "base/string_pool.h"
#include "locate/location.h"
#include "profile/code_lane.h"
#include "profile/hidden_totals.h"
#include "profile/profile.h"
#include "profile/thread_counts.h"
#include "profile/time_slices.h"
#include "sink/view_options.h"
#include "state/process/module_table.h"
#include "symbolize/frame_table.h"
#include "symbolize/recorded_code.h"

struct file_packages;
struct ledger;
struct life_list;

struct json;
struct view;

/* Writes more members into the data of a page; returns 0 or a negative errno. */
struct page_extra {
	int (*write)(void *context, const struct view *view, struct json *json);
	void *context;
};

#define RUN_OF_PROCESSES "process "
#define RUN_CPU_TIME	 "cpu-time" /* name of event 0, whatever counts it */

/* An event that is sampled beside CPU time. */
struct run_event {
	const char *name; /* "page-faults" */
	const char *unit; /* of its weights: "faults" */
	uint64_t period;  /* weight of each sample; 0: each has its own */
};

/* Description of a run. Strings are never NULL. */
struct run_info {
	uint64_t start_ns;	/* CLOCK_MONOTONIC */
	uint64_t duration_ns;	/* from the first to the last round */
	uint64_t wall_clock_ns; /* CLOCK_REALTIME at start_ns */
	uint32_t freq_hz;
	uint32_t cpus;
	const char *event;   /* of the view: "cpu-clock", "cycles" */
	const char *command; /* "": the whole system; RUN_OF_PROCESSES and pids */
	const char *host;
	const char *kernel; /* release */
	/* Of a view that does not show CPU time, as in struct run_event; freq_hz is 0. NULL: CPU
	 * time. */
	const char *unit;
	uint64_t period;
	/* Events from 1 on. */
	uint32_t more_events;
	struct run_event events[JITBPF_EVENTS_MAX - 1];
};

/* The samples of one event of a run. */
struct event_total {
	const char *name, *unit;
	uint64_t period;  /* weight of each sample; 0: each has its own */
	uint64_t samples; /* with those that were lost */
	uint64_t lost;
	uint64_t weight;  /* sum, of lost samples as far as it is known; UINT64_MAX: or more */
	uint64_t counted; /* samples as counted by the BPF program; 0: not known, or event 0 */
	uint64_t before;  /* as ledger.samples_before */
};

/*
 * A read-only view of the profile of one event, and all that its numbers refer to. Valid during the
 * call.
 */
struct view {
	const struct run_info *info;
	const struct string_pool *strings;
	const struct module_table *modules; /* owners of native locations */
	const struct location_table *locations;
	const struct frame_table *frames; /* complete in finish() */
	const struct profile *profile;
	const struct ledger *ledger;
	const struct recorded_code *code;    /* machine code of JIT code, as far as it is kept */
	const struct thread_counts *threads; /* the samples of the profile by node and thread */
	const struct hidden_totals *hidden;  /* TOTAL of functions beside the profile; NULL: none */
	const struct time_slices *slices;    /* the samples of `threads` by time; NULL: not kept */
	const struct code_lane *lane;	     /* JIT code by time; NULL: not kept */
	const struct page_extra *extra;	     /* of pages of this view; NULL: none */
	const struct life_list
		*lives; /* for pages (sink/timeline/life_search.h); NULL: the sink's */
	const struct file_packages *packages; /* of unnamed files; NULL: not searched for */
	/* Memory for the single samples that each sink keeps; 0: no limit. */
	uint64_t samples_bytes;
	const struct event_total *events; /* all events of the run, when the view is complete */
	uint32_t event_count;		  /* 0: not complete */
	uint32_t event;			  /* number of the event that the view shows */
	/* The views of all events of the run, by number: info->more_events + 1. NULL: CPU time
	 * alone. */
	const struct view *const *by_event;
	uint32_t epoch;	       /* counts up from 0; other numbers are valid within it */
	uint32_t oldest_epoch; /* number of the oldest open epoch */
	uint32_t round;	       /* counts up; see ledger_process.changed_round */
	/*
	 * Applied by a sink when it reads, see shown_profile.h. The data above do not depend
	 * on the options.
	 */
	struct view_options options;
};

/*
 * One sample. Samples come in order of time, except for those whose stacks were completed later.
 * Valid during the call.
 */
struct sink_sample {
	uint64_t time_ns;
	uint32_t pid, tid, cpu;
	uint32_t comm;			     /* string number of the thread's name */
	uint32_t node;			     /* profile node of its stack */
	uint32_t count;			     /* index in view.threads of its node and thread */
	const uint64_t *addresses;	     /* kernel frames, then user frames, each leaf first; */
	uint32_t kernel_frames;		     /* one for each location on the path from */
	uint32_t user_frames;		     /* node to its root but CUT and OTHERS */
	const struct jitbpf_user_regs *regs; /* NULL: none */
};

/* A load or unload of JIT code. Valid during the call. */
struct sink_code {
	uint64_t time_ns;
	uint32_t process; /* number, as in the profile */
	uint32_t pid, tid;
	uint32_t comm;			  /* string number of the process's name */
	uint64_t method_id;		  /* 0: not given */
	uint64_t address, size_bytes;	  /* of an unload: 0 if not given */
	bool gone;			  /* an unload */
	const struct code_region *region; /* NULL: an unload, or overwritten at once */
};

/*
 * A region of JIT code that comes into force or ends, or the end of a process. A region can come
 * into force several times: in another version, or in the map of a child. Valid during the call.
 */
struct sink_region {
	uint64_t time_ns;
	const struct code_region *region; /* NULL: the process ends, and its own code with it */
	bool ended;
	/* Set for a region that comes into force; `process` also for the end of a process. */
	bool shared;	  /* the region is in memory that processes share */
	uint32_t process; /* number in the process table; never reused */
	uint32_t pid;
	const char *comm;
	struct owner_key owner;
};

struct sink; /* defined by each format */

struct sink_ops {
	const char *name;      /* as in -f */
	const char *extension; /* as in -o: ".folded"; no extension ends with another one */
	/* finish() reads no modules and, if region() was not called, no code of locations. */
	bool counts_only;
	bool packages;	  /* finish() reads view.packages */
	bool time_slices; /* reads view.slices and view.lane, which are kept only for such sinks */
	/*
	 * Memory that finish() takes, as a multiple of what the profile is charged, rounded up: so
	 * much of the profile's part is left for it. 0: little.
	 */
	uint32_t profile_times;
	/* Returns 0 with *ret set, or -ENOMEM. out is borrowed until destroy(). */
	int (*create)(FILE *out, struct sink **ret);
	/* Take a sample. NULL: not needed. Returns 0 or -ENOMEM. */
	int (*sample)(struct sink *sink, const struct view *view, const struct sink_sample *sample);
	/* Take a change of JIT code, in order of time. NULL: not needed. Returns as above. */
	int (*code)(struct sink *sink, const struct view *view, const struct sink_code *code);
	/* Take a change of a region. NULL: not needed. Returns as above. */
	int (*region)(struct sink *sink, const struct view *view, const struct sink_region *change);
	/*
	 * Live views have these two instead of finish(). subscribed(): rounds begin; the
	 * sink has not seen earlier samples. round(): read a view after a round, at the
	 * period of the subscription; views of closing epochs come before the current
	 * one. Returns 0, 1 (call again after the next round) or a negative errno.
	 */
	void (*subscribed)(struct sink *sink);
	int (*round)(struct sink *sink, const struct view *view, uint64_t time_ns);
	/* Write the output. Returns 0 or a negative errno, including errors of out. */
	int (*finish)(struct sink *sink, const struct view *view);
	/* Returns how many samples had no room (view.samples_bytes). NULL: none. */
	uint64_t (*left_out)(const struct sink *sink);
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
extern const struct sink_ops sink_top;

/* Returns format number i, or NULL after the last one. */
const struct sink_ops *sink_at(size_t i);

/* Return the format by its name, or by the extension of a path; NULL if there is none. */
const struct sink_ops *sink_by_name(const char *name);
const struct sink_ops *sink_by_path(const char *path);

#endif
