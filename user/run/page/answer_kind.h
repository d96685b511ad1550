/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A kind of request that run/page/live_answers.h answers. */
#ifndef JITBPF_RUN_PAGE_ANSWER_KIND_H
#define JITBPF_RUN_PAGE_ANSWER_KIND_H

#include <stdio.h>

#include "agent/files/file_store.h"
#include "agent/files/sources/source_files.h"
#include "agent/readers/code_reader.h"
#include "agent/workers/work_thread.h"
#include "decode/text/page_request.h"
#include "sink/annotate/function_search.h"
#include "sink/naming.h"
#include "sink/timeline/life_search.h"

#define ANSWER_STEP_ITEMS 32768 /* locations, nodes or lives of a round */

/* The readers that the thread uses. */
struct answer_sources {
	struct code_reader *reader;
	struct source_files files;
	struct file_store *store;
};

/* The input of the thread for an answer. It is the first member of a kind's own struct. */
struct answer_job {
	struct work_result result;
	const struct answer_kind *kind;
	struct answer_sources *sources;
	int socket; /* owned by live_answers */
};

union answer_search {
	struct function_search function;
	struct life_search lives;
	struct unnamed_search unnamed;
};

/* Functions return 0 or a negative errno, after which the request has no answer. */
struct answer_kind {
	/* Returns the number of the event whose view is read. NULL: of CPU time. */
	uint32_t (*event)(const union data_wanted *wanted);
	int (*begin)(union answer_search *ret, const struct view *view,
		     const union data_wanted *wanted);
	/* Returns 1 if more is left to do. */
	int (*step)(union answer_search *search, const struct view *view,
		    const struct sink *history);
	/* After the last step. Sets *ret to a job with what its thread needs. */
	int (*make_job)(union answer_search *search, const struct view *view,
			const struct sink *history, const union data_wanted *wanted,
			struct answer_job **ret);
	void (*end)(union answer_search *search); /* after any begin() */
	/* On the thread: write the answer. */
	int (*write)(struct answer_job *job, FILE *out);
	void (*free)(struct answer_job *job); /* and all that it owns but the socket */
};

#endif
