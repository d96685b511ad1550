/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many samples are named: their innermost frame that is shown has the name of a function, not
 * only of a file ("[php8.2]"). The samples of a process or thread without any such frame count as
 * named: they have no frame that lacks a name. The page counts the same (page/naming.ts).
 */
#ifndef JITBPF_SINK_NAMING_H
#define JITBPF_SINK_NAMING_H

#include "base/vec.h"
#include "sink/sink.h"

struct text;

struct naming_count {
	uint64_t samples; /* without lost samples */
	uint64_t named;
};

struct naming {
	struct naming_count all;
	VEC(struct naming_count) processes; /* by number, as in the ledger */
};

/* Count the samples of a view. Returns 0 or -ENOMEM; the caller calls naming_deinit() then too. */
int naming_count(const struct view *view, struct naming *ret);

/* A file with samples whose innermost frame is in it and has no name. */
struct unnamed_file {
	const char *path; /* whole, untrusted, borrowed from the view */
	uint32_t module;  /* number of one of the modules at that path */
	uint64_t samples;
};

typedef VEC(struct unnamed_file) unnamed_file_list;

/* All files with such samples, beyond those in a list. */
struct unnamed_total {
	size_t files;
	uint64_t samples;
};

/* Samples of one node in such a file. */
struct unnamed_count {
	uint32_t path; /* string */
	uint32_t module;
	uint64_t samples;
};

/* A search for such files, in steps. Zero-initialized but for epoch: at its begin. */
struct unnamed_search {
	uint32_t epoch; /* of the view */
	uint32_t next;	/* node */
	VEC(struct unnamed_count) counts;
};

/*
 * Look at up to max nodes. Returns 1 if more are left, 0, -ESTALE if the view is of another epoch,
 * or -ENOMEM.
 */
int unnamed_search_step(struct unnamed_search *search, const struct view *view, size_t max);

/* After the last step: as naming_files(). */
int unnamed_search_result(struct unnamed_search *search, const struct view *view,
			  unnamed_file_list *ret, struct unnamed_total *ret_total);
void unnamed_search_deinit(struct unnamed_search *search);

/*
 * Set *ret to the files with most such samples, in order, at most FILE_PACKAGES_MAX, and
 * *ret_total (may be NULL) to the total. Returns 0 or -ENOMEM; the caller frees the list with
 * vec_deinit() then too.
 */
int naming_files(const struct view *view, unnamed_file_list *ret, struct unnamed_total *ret_total);

/* Put what to do about the names of some files (file_packages.h). */
void naming_put_advice(struct text *text, const struct view *view, const unnamed_file_list *files,
		       size_t first, size_t count);

/* Returns true if the innermost frame that is shown of a node has a name. */
bool naming_of_node(const struct view *view, uint32_t node);

void naming_deinit(struct naming *naming);

#endif
