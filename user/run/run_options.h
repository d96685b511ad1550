/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a run of `jitbpf record`, `live` or `top` does: the values of its options, checked. */
#ifndef JITBPF_RUN_RUN_OPTIONS_H
#define JITBPF_RUN_RUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "agent/kernel/events/software_events.h"
#include "agent/launch/engine_env.h"
#include "base/lists.h"
#include "run/outputs/disk_limits.h"
#include "run/outputs/rotation.h"
#include "run/target/target.h"
#include "sink/view_options.h"
#include "state/code/code_lines.h"

struct run_options {
	const char *name; /* of the command, for messages */
	uint32_t freq_hz;
	string_list event_names;     /* as given with -e */
	struct chosen_events events; /* sampled beside CPU time */
	uint64_t duration_ns;	     /* 0: until stopped */
	struct target_options target;
	string_list outputs;
	const char *format; /* of the only output, or of standard output; NULL: by extension */
	struct rotation_options rotation;
	struct disk_limits disk;
	uint64_t refresh_ns; /* 0: outputs are written at the end */
	bool live;	     /* serve the page */
	string_list folders; /* of source files, for the page */
	bool once;	     /* of `jitbpf top` */
	uint64_t window_ns;  /* of `jitbpf top` */
	bool top;	     /* show the screen of `jitbpf top` */
	bool only_live;	     /* no default output, only those of -o */
	uint32_t port;	     /* 0: the first free port from the default on */
	bool user_regs;
	bool code; /* keep machine code in the recording */
	bool quiet;
	const char *stats; /* NULL: none */
	uint64_t code_ring_bytes;
	uint64_t sample_ring_bytes;
	uint64_t memory_bytes;
	const char *shim;
	bool no_debuginfod;
	bool no_env;
	struct engine_env_choice env;
	bool attach_jvms, no_attach_jvms;
	struct view_options view;
	string_list line_offsets;
	struct code_line_rules line_rules;
	struct rlimit open_files; /* the limit before it was raised */
};

#endif
