/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two profiles laid over each other: the tree of frames that either has, by what
 * people see of them (name, kind, the last part of the module's path), with the
 * samples of both. Numbers of locations and strings differ between two runs, and
 * so may the folder that a program was built in; what is shown does not.
 */
#ifndef JITBPF_SINK_DIFF_FRAME_DIFF_H
#define JITBPF_SINK_DIFF_FRAME_DIFF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sink/frame_tree.h"

enum frame_diff_side { DIFF_BEFORE, DIFF_AFTER, DIFF_SIDES };

/*
 * What a node is shown as. Strings are the diff's own, never NULL, and hostile as
 * ever. Where the two sides have it from different paths or lines, it is after's.
 */
struct frame_diff_label {
	const char *name;
	const char *module; /* "": a process */
	const char *file;   /* "": not known */
	uint32_t line;
	enum frame_kind kind;
	bool inlined;
};

struct frame_diff_node {
	uint32_t parent; /* of node 0, which is everything: FRAME_TREE_NONE */
	uint32_t label;
	uint64_t self[DIFF_SIDES], total[DIFF_SIDES]; /* samples */
};

struct frame_diff; /* see frame_diff.c */

/*
 * Lay two views over each other. Copies all it needs. With strip_hex, names that
 * differ only in numbers like 0x7f00 are one: "0x..." stands for all of them.
 * Returns 0 or -ENOMEM.
 */
int frame_diff_create(const struct view *before, const struct view *after, bool strip_hex,
		      struct frame_diff **ret);
void frame_diff_destroy(struct frame_diff *diff);

/*
 * Nodes in the order of a walk: each before all that is below it, siblings by
 * name, module and kind; and labels. Borrowed.
 */
const struct frame_diff_node *frame_diff_nodes(const struct frame_diff *diff, uint32_t *ret_count);
const struct frame_diff_label *frame_diff_labels(const struct frame_diff *diff,
						 uint32_t *ret_count);

/*
 * "a;b;c before after" lines, as FlameGraph's difffolded.pl makes them of two
 * folded outputs: each stack that either has, once, in the order of its frames.
 * With normalize, counts before are scaled to after's total. Returns 0 or
 * negative errno.
 */
int frame_diff_write_folded(FILE *out, const struct frame_diff *diff, bool normalize);

/*
 * A table for people: the functions whose share of the samples changed most, at
 * most `rows` of them (0: all). The views tell what was recorded.
 * Returns 0 or negative errno.
 */
int frame_diff_write_table(FILE *out, const struct frame_diff *diff, const struct view *before,
			   const struct view *after, uint32_t rows);

/*
 * The flame graph page in its difference mode (frame_diff_page.c). The views give what
 * stands around the graph: what was recorded, and both ledgers.
 */
int frame_diff_write_html(FILE *out, const struct frame_diff *diff, const struct view *before,
			  const struct view *after);

#endif
