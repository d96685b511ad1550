/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes an annotation for the code pane of the page (user/sink/page/code_data.ts): a JSON object
 * with these members.
 *
 *   lack          why code is not known, a sentence; absent if all is known
 *   address       of the function in its file; absent for JIT code, of which the generation has it,
 *                 and for kernel code, since pages are passed on
 *   instructions  [offset, samples, length, text, frames, target, code]: text is a number in
 *                 `strings`, frames a number in `frames` plus 1 (0: none), target an offset in the
 *                 function or -1, code its bytes in hexadecimal
 *   sampled       [file, line, samples, total] of each sampled line of a function of a runtime,
 * which has no instructions; file is a number in `strings` skipped       how many instructions
 * without samples were left out, far from those with samples unshown       samples of instructions
 * that were left out, too frames        [name, file, line] of each level, innermost first, as one
 * list lines         [file, line, text] of source lines, by file and line troubles      [file,
 * words] of source files that could not be read strings
 */
#ifndef JITBPF_SINK_ANNOTATE_ANNOTATION_PAGE_H
#define JITBPF_SINK_ANNOTATE_ANNOTATION_PAGE_H

#include "sink/annotate/annotation_output.h"
#include "sink/write/json.h"

#define PAGE_INSTRUCTIONS_MAX 4000 /* of a function */
#define PAGE_LINES_MAX	      2000 /* source lines of a function */
#define PAGE_LINE_BYTES	      400  /* of a source line; the rest is cut */

/* Write the object. sources NULL: without source lines. Returns 0 or -ENOMEM. */
int annotation_page_write(struct json *json, const struct annotation *annotation,
			  const struct source_lines *sources);

#endif
