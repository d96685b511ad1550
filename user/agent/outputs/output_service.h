/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The process that opens, publishes and deletes the output files, as the invoking user
 * (agent/launch/invoking_user.h), so that the recorder needs no right to write. It keeps no
 * capability; of root's, only those to write in folders of other users (CAP_DAC_OVERRIDE,
 * CAP_FOWNER), which the broker would have to keep if it started this process. It reads no file. It
 * is forked before anything of another process is read, and serves only the paths that were
 * declared then: a request has the number of a path or of a file.
 */
#ifndef JITBPF_AGENT_OUTPUTS_OUTPUT_SERVICE_H
#define JITBPF_AGENT_OUTPUTS_OUTPUT_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/launch/invoking_user.h"
#include "agent/outputs/output_file.h"

enum output_request_kind {
	OUTPUT_OPEN, /* number: of a path; the reply has a descriptor, and the number of a file */
	OUTPUT_PUBLISH, /* number: of a file */
	OUTPUT_CLOSE,	/* of a file, which is deleted if it was not published */
	OUTPUT_RETAIN,	/* the same, but OUTPUT_DELETE may follow */
	OUTPUT_DELETE,	/* of a published file that was retained */
};

struct output_request {
	uint32_t kind;
	uint32_t number;
};

struct output_reply {
	int32_t err; /* 0 or a negative errno */
	/* OPEN: */
	uint32_t number;
	bool replaces; /* it is to be published */
	bool stale;
	bool kept_old; /* PUBLISH: the file before is NAME.old now */
	char place[OUTPUT_PLACE_MAX];
	char name[NAME_MAX + 1]; /* a series: of the file in its folder */
};

/* The paths that are served. Borrowed. */
struct output_paths {
	const char *const *paths;
	size_t count;
	/*
	 * Each file that is opened by the first path gets a name of its own: profile.jitbpf becomes
	 * profile.20261122T093000.123Z.jitbpf. All are in the folder that the path named first,
	 * or, once that is removed, in the one that the path names then.
	 */
	bool series;
	bool keeps_old; /* the file that the first path replaces becomes NAME.old, unless a link */
};

/* Become the process, and answer requests until the other end of the socket is closed. */
_Noreturn void output_service_run(int socket, const struct invoking_user *user,
				  const struct output_paths *paths);

#endif
