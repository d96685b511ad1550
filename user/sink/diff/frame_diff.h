/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The difference of two profiles: one tree of the functions of both, with the samples of each side.
 * Functions are equal if name, kind, the file name of the module and the source file that tells the
 * function apart are (struct frame_text). Numbers and directories of modules differ between two
 * runs, and are not compared.
 *
 * Some names have numbers that tell functions apart in one run or build, and differ in the next
 * (engine_unnumber(), native_unnumber()). If both sides have the same numbers, or one side has
 * none, such functions are compared as they are. Otherwise the numbers do not identify a function
 * across the sides. Names that differ in them become one frame without a number, with a mark if a
 * side has several. The same holds for source files, which can be unknown on one side; and of
 * static native functions, for the folders of files of one name.
 *
 * In an exact view (view_is_exact()), names in full are compared, and nothing else is one.
 */
#ifndef JITBPF_SINK_DIFF_FRAME_DIFF_H
#define JITBPF_SINK_DIFF_FRAME_DIFF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sink/frame_tree.h"
#include "sink/hidden_labels.h"

/* Suffix of a frame's name that replaces several functions of one side, by their numbers. */
#define FRAME_DIFF_SEVERAL " [several]"

enum frame_diff_side { DIFF_BEFORE, DIFF_AFTER, DIFF_SIDES };

/*
 * The text of a node. Strings are owned by the diff, never NULL, and untrusted. If path or line
 * differ between the sides, those of AFTER are used.
 */
struct frame_diff_label {
	/* in full, if all code of the function has one name; with its file if only that tells it
	 * apart: "f of a.c" */
	const char *name;
	const char *module;	   /* "": a process */
	const char *file;	   /* of the line; "": not known */
	const char *function_file; /* "": the name and module tell it apart */
	uint32_t line;
	enum frame_kind kind;
	bool inlined; /* all of its code is */
};

struct frame_diff_node {
	uint32_t parent; /* FRAME_TREE_NONE for node 0, the root */
	uint32_t label;
	uint64_t self[DIFF_SIDES], total[DIFF_SIDES]; /* samples */
};

struct frame_diff; /* see frame_diff.c */

/* Memory of a diff, as a multiple of what the profiles of both sides are charged, rounded up. */
#define FRAME_DIFF_PROFILE_TIMES 3

/*
 * Build the difference of two views, which are not needed afterwards. With strip_hex, numbers like
 * 0x7f00 in names are replaced by "0x...", so that such names are equal.
 * Returns 0 or -ENOMEM.
 */
int frame_diff_create(const struct view *before, const struct view *after, bool strip_hex,
		      struct frame_diff **ret);
void frame_diff_destroy(struct frame_diff *diff);

/*
 * Return the nodes, parents before their children, siblings by name, module and kind; and the
 * labels. Borrowed.
 */
const struct frame_diff_node *frame_diff_nodes(const struct frame_diff *diff, uint32_t *ret_count);
const struct frame_diff_label *frame_diff_labels(const struct frame_diff *diff,
						 uint32_t *ret_count);

/* Returns what tables add to the TOTAL of functions on a side. Borrowed. */
const hidden_labels *frame_diff_hidden(const struct frame_diff *diff, enum frame_diff_side side);

/*
 * Write "a;b;c BEFORE AFTER" lines, as FlameGraph's difffolded.pl does: each stack of either side
 * once, ordered by frames. With normalize, counts of BEFORE are scaled to the total of AFTER.
 * Returns 0 or a negative errno.
 */
int frame_diff_write_folded(FILE *out, const struct frame_diff *diff, bool normalize);

/*
 * Write a table of the functions whose share of the samples changed most, at most `rows` of them
 * (0: all). The views supply the descriptions of the runs. Returns 0 or a negative errno.
 */
int frame_diff_write_table(FILE *out, const struct frame_diff *diff, const struct view *before,
			   const struct view *after, uint32_t rows);

/*
 * Write the flame graph page in difference mode. The views supply the descriptions of the runs, and
 * the ledgers. Returns 0 or a negative errno.
 */
int frame_diff_write_html(FILE *out, const struct frame_diff *diff, const struct view *before,
			  const struct view *after);

#endif
