/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the unwinder owns; shared by its files only. */
#ifndef JITBPF_UNWIND_UNWINDER_STATE_H
#define JITBPF_UNWIND_UNWINDER_STATE_H

#include "unwind/code_copies.h"
#include "locate/code_site.h"
#include "unwind/unwind_pages.h"
#include "unwind/unwind_processes.h"
#include "unwind/unwind_regions.h"
#include "unwind/unwinder.h"

#define UNWIND_RULE_WAITS 1 /* for rows that have been asked for, or will be */

struct wanted_page {
	const struct process *process; /* where it is reserved: as long as its slot is there */
	uint64_t address;	       /* in it */
	struct unwind_page_key key;
	bool reserved; /* in the round before */
};

#define WANTED_PAGES_MAX   64 /* in a round */
#define UNWIND_ASKED_SLOTS 1024

struct unwinder {
	struct unwind_service service;
	struct unwind_tables tables;
	const struct module_table *modules;
	struct unwind_pages pages;
	struct unwind_processes processes;
	struct unwind_regions regions;
	struct code_copies copies;

	uint32_t outstanding;		    /* requests */
	uint16_t asked[UNWIND_ASKED_SLOTS]; /* of those, by pid: some processes share one */
	uint64_t known_ns;
	struct wanted_page wanted[WANTED_PAGES_MAX]; /* pages of code */
	uint32_t wanted_count;
	uint32_t stretches; /* of code that may still be looked at for them in this round */
	struct unwind_rows page_rows; /* within building a page */
	struct unwind_row *room;      /* for UNWIND_PAGE_ROWS_MAX */
	uint64_t finished, file_pages;
};

extern const struct unwind_row unwind_frame_pointer_row;

/* On whose account rows are asked for. */
struct unwind_account {
	struct unwinder *unwinder;
	const struct process *process;
};

/*
 * unwind_rules.c: the row that holds at a site. Returns 0; UNWIND_RULE_WAITS, with *ret what to
 * do without it; or -ENOMEM.
 */
int unwind_rule_at(const struct unwind_account *account, const struct code_site *site,
		   uint64_t address, struct unwind_row *ret);

/* unwind_publish.c: a frame was in code without a file: the kernel wants its page. */
void unwind_want_page(struct unwinder *unwinder, const struct process *process, uint64_t address);

#endif
