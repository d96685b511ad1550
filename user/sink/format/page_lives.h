/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of the lives of JIT code in a page: for each load, its method, process, times, size and
 * samples. Lives with most samples come first, then large ones. The table has a budget of bytes;
 * lives beyond it are counted.
 */
#ifndef JITBPF_SINK_FORMAT_PAGE_LIVES_H
#define JITBPF_SINK_FORMAT_PAGE_LIVES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "sink/timeline/code_lives.h"

#define PAGE_LIVES_BYTES_MAX (3u << 20)	  /* in the page, with names */
#define PAGE_LIVES_NAME_MAX  1000	  /* bytes of a name that no sample has */
#define LIVES_ANSWER_BYTES   (512u << 10) /* of an answer to a live page, with names */

struct json;
struct page_data;
struct view;

struct life_list;

struct page_life {
	uint32_t number;	     /* of the life, in answers to live pages */
	uint32_t name, module, comm; /* strings of the page */
	uint32_t pid;
	uint64_t address, bytes;
	uint64_t loaded; /* ns since the start, plus 1; 0: before the run */
	uint64_t ended;	 /* the same; 0: still in force */
	uint64_t samples;
};

/* Zero-initialized is a page without such a table. */
struct page_lives {
	bool known;    /* the page has the table */
	bool numbered; /* it has the numbers of lives */
	VEC(struct page_life) lives;
	struct code_left_out left_out;	/* no room in the page */
	struct code_left_out forgotten; /* no room in `lives` of the run */
};

/*
 * Add lives to page->lives, up to max_bytes in the page. If there was no life so far, the page gets
 * no table. The caller has added the view's frames. Returns 0 or -ENOMEM.
 */
int page_lives_take(struct page_data *page, const struct view *view, const struct code_lives *lives,
		    uint64_t max_bytes);

/*
 * The same for a list of lives. The page may have no other data. Names are demangled unless options
 * say otherwise. An empty list makes no table.
 */
int page_lives_take_list(struct page_data *page, const struct view_options *options,
			 const struct life_list *list, uint64_t max_bytes);

/*
 * Write the answer to a live page: an object with `total`, the samples of the profile; `strings`,
 * and the table "lives", with numbers. The answer has at most about LIVES_ANSWER_BYTES. Returns 0
 * or -ENOMEM.
 */
int lives_answer_write(const struct life_list *list, const struct view_options *options,
		       struct json *json);

/* Write the table as a member "lives", if there is one. Returns 0 or -ENOMEM. */
int page_lives_write(const struct page_lives *lives, struct json *json);

void page_lives_deinit(struct page_lives *lives);

#endif
