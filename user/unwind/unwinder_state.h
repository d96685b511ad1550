/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The unwinder's state. Only its own files include this header. */
#ifndef JITBPF_UNWIND_UNWINDER_STATE_H
#define JITBPF_UNWIND_UNWINDER_STATE_H

#include "locate/code_site.h"
#include "unwind/code/code_checks.h"
#include "unwind/code/code_copies.h"
#include "unwind/code/found_code.h"
#include "unwind/return_sites.h"
#include "unwind/runtimes/known_stacks.h"
#include "unwind/runtimes/recipe_templates.h"
#include "unwind/runtimes/runtime_merge.h"
#include "unwind/runtimes/runtime_recipes.h"
#include "unwind/runtimes/sampled_functions.h"
#include "unwind/tables/unwind_pages.h"
#include "unwind/tables/unwind_processes.h"
#include "unwind/unwind_regions.h"
#include "unwind/unwinder.h"

#define UNWIND_RULE_WAITS 1 /* rows are pending or will be requested */

struct wanted_page {
	/* process in which the page is reserved; valid as long as its slot exists */
	const struct process *process;
	uint64_t address; /* an address in the page */
	struct unwind_page_key key;
	bool reserved; /* reserved in the previous round */
};

#define WANTED_PAGES_MAX       64 /* per round */
#define UNWIND_ASKED_SLOTS     1024
#define UNWIND_CHANGES	       1024	  /* processes share a count */
#define UNWIND_LARGE_BYTES_MAX (8u << 20) /* limit of large; see unwinder_keep_code() */
#define UNWIND_ASKED_MAX       64	  /* limit of requests of a process without an answer */
#define UNWIND_OUTSTANDING_MAX 1024	  /* limit of requests without an answer, of all owners */

struct unwinder {
	struct unwind_service service;
	struct unwind_tables tables;
	const struct module_table *modules;
	struct unwind_pages pages;
	struct unwind_processes processes;
	struct unwind_regions regions;
	struct code_copies copies;
	struct code_copies large; /* of code beyond CODE_COPIES_COPY_MAX */
	bool keeps_code;	  /* large has code that was read, too */
	struct code_checks checks;
	struct return_sites return_sites;
	struct found_code found;

	struct owner_budget outstanding;    /* requests without an answer */
	uint16_t asked[UNWIND_ASKED_SLOTS]; /* the same by pid; pids may share a slot */
	/* by slot of a module: its number, if a walk has requested rows of it, plus 1 */
	VEC(uint32_t) walked;
	uint64_t known_ns;
	struct unwind_woken woken;
	uint64_t key; /* of the last UNWIND_RULE_WAITS */
	/* Changes of code and mappings, by number of the process; of code, if some share memory. */
	uint32_t changes[UNWIND_CHANGES], shared_changes;
	struct wanted_page wanted[WANTED_PAGES_MAX]; /* pages of JIT code */
	uint32_t wanted_count;
	uint32_t stretches;	      /* regions and gaps that may still be visited in this round */
	struct unwind_rows page_rows; /* scratch space for building a page */
	struct unwind_row *room;      /* scratch space for UNWIND_PAGE_ROWS_MAX rows */
	uint64_t finished, file_pages;

	struct runtime_recipes recipes;
	struct recipe_templates templates;
	struct sampled_functions functions;
	struct known_stacks known_stacks;
	struct runtime_words runtime_words[JITBPF_RUNTIME_FRAMES_MAX]; /* scratch space */
	uint64_t runtimes_swept_ns;
	/* The last sample, if its functions are not pending, and its time. Only compared. */
	const struct jitbpf_sample *ready;
	uint64_t ready_ns;
	bool functions_found;	    /* the round has samples with functions that were not known */
	bool runtimes_start;	    /* recipes are pending, or will be requested soon */
	bool runtimes_young;	    /* see unwinder_runtimes_young() */
	uint64_t functions_unknown; /* runtime frames that were merged without a function */
};

extern const struct unwind_row unwind_frame_pointer_row;

/* The process that is charged for requests of rows. */
struct unwind_account {
	struct unwinder *unwinder;
	const struct process *process;
	bool ahead; /* rows are not needed yet: those that take long are not requested */
};

/*
 * Defined in unwind_rules.c. Find the row for a code site. Returns 0, UNWIND_RULE_WAITS with *ret
 * set to a substitute and unwinder->key to what is awaited, or -ENOMEM.
 */
int unwind_rule_at(const struct unwind_account *account, const struct code_site *site,
		   uint64_t address, struct unwind_row *ret);

/*
 * Defined in unwind_rules.c. Returns whether functions can return to an address. site: of the byte
 * before it, in a file or in anonymous memory. If that is not known, it is requested, and the
 * result is RETURN_SITE_WAITS, with unwinder->key set.
 */
enum return_site_state unwind_return_at(const struct unwind_account *account,
					const struct code_site *site, uint64_t return_address);

/*
 * Defined in unwind_rules.c. Returns true if the process may make one more request, with fewer
 * than `limit` of the process or of its owner without an answer.
 */
bool unwind_may_ask(const struct unwind_account *account, uint32_t limit);

/* Defined in unwind_rules.c. Send a request. Returns 0 or -ENOMEM. */
int unwind_ask(struct unwinder *unwinder, const struct unwind_request *request);

/* Defined in unwind_check.c. Request the checks that samples wait for and that are due. */
void unwind_request_checks(struct unwinder *u);

/* Release the charge of a request that was answered. */
void unwind_answered(struct unwinder *u, const struct unwind_request *request);

/*
 * Defined in unwind_publish.c. Schedule the page of a JIT frame to be published to the kernel. If
 * its region (NULL: it has none) is an interpreter, all pages are: a frame that the kernel does not
 * reach has no function.
 */
void unwind_want_page(struct unwinder *unwinder, const struct process *process, uint64_t address,
		      const struct code_region *region);

#endif
