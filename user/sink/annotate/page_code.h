/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The code of the functions with most samples, as the member "functions" of a page's data, for its
 * code pane. Each function is written with its generations, and these with their annotations
 * (annotation_page.h) until the limits are reached. It is an object with these members.
 *
 *   total      samples of the profile
 *   left_out   functions beyond PAGE_CODE_FUNCTIONS_MAX; of runtimes, the limit counts apart
 *   max_bytes  PAGE_CODE_BYTES_MAX
 *   list       name, module, kind ("JIT", "native", "kernel", "Python"), samples, and `generations`
 *              by the time of their load: samples, address, bytes, loaded_ns, ended_ns (from the
 *              start of the run), before_run, live, and `code`, unless there was no room for it.
 *              A function of a runtime has a generation for each source file, with its name as
 *              `name`, its total as `total` and samples, and those of the JIT code that ran for it
 */
#ifndef JITBPF_SINK_ANNOTATE_PAGE_CODE_H
#define JITBPF_SINK_ANNOTATE_PAGE_CODE_H

#include "sink/annotate/annotation_output.h"
#include "sink/write/json.h"

#define PAGE_CODE_FUNCTIONS_MAX	  100
#define PAGE_CODE_GENERATIONS_MAX 50	     /* of a function, those with most samples */
#define PAGE_CODE_BYTES_MAX	  (8u << 20) /* of all annotations in the page */

/*
 * The sources of the code. All are borrowed; symbolizer and history may be set until the page is
 * made.
 */
struct page_code {
	struct file_source files;
	struct symbolizer *symbolizer;	    /* NULL: as in struct annotation_sources */
	const struct sink *history;	    /* code_history.h; NULL: life times are not known */
	const struct source_lines *sources; /* NULL: no source lines */
};

/* Implements page_extra.write, with a struct page_code as context. */
int page_code_write(void *page_code, const struct view *view, struct json *json);

/* Returns the label of its kind of frame: "JIT", "native", "kernel", "Python". */
const char *page_code_kind(const struct sampled_function *function);

/* Write the members of a generation but `samples` and `code`, into an object that was begun. */
void page_code_write_life(struct json *json, const struct view *view,
			  const struct generation *generation);

#endif
