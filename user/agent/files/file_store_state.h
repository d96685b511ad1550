/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of a file store. Only for file_store.c, followed_files.c,
 * module_files.c, module_search.c and packaged_files.c. */
#ifndef JITBPF_AGENT_FILES_FILE_STORE_STATE_H
#define JITBPF_AGENT_FILES_FILE_STORE_STATE_H

#include <sys/types.h>

#include "agent/files/copied_text.h"
#include "agent/files/file_store.h"
#include "agent/files/kept_files.h"
#include "agent/files/late_files.h"
#include "agent/files/unverified_files.h"
#include "base/owner_rates.h"

/* A thread's readers. */
struct file_user {
	struct file_store *store;
	struct file_reader *reader;
	struct file_reader *mappings; /* for file_reader_mapping() only */
	struct owner_rates checks;    /* bytes of debug files that were read for a check */
	/*
	 * For the memory of processes, with its own time limits: a blocked read of memory does not
	 * reduce the time for files. NULL: the thread reads none.
	 */
	struct file_reader *memory;
};

struct file_store {
	struct file_store_options options;
	struct broker own_broker;
	struct file_user meeting, naming, unwinding, runtimes, annotating, packaging;
	/* Of the event loop: for files that grow, and for the memory of their writers. */
	struct file_user following;
	struct file_reader *writers;
	copied_texts texts;
	struct file_reader *comparing; /* of the event loop: memory with files (copied_text.h) */
	struct process_maps *maps, *runtime_maps; /* of the event loop, and of the runtime worker */
	uint64_t turn_end_ns;			  /* of the event loop; 0: no turn has begun */
	struct late_files late;
	uint64_t again_ns;			 /* when these files are searched again */
	VEC(struct jitbpf_mapping *) identified; /* of them, for file_store_take_identified() */
	struct kept_files files;
	struct file_store_counts counts;
	struct unverified_files unverified;
	const struct process_owners *owners; /* NULL: none are known */
	struct owner_rates searches;	     /* a search takes time of the event loop */
	struct owner_rates compared;	     /* bytes of text; the same */
	dev_t shared_memory, huge_memory;    /* devices; 0: not known, or the kernel has none */
	int mappings_error;
	int debuginfod_error; /* set by the symbol worker's thread */
};

/* Returns false if the path is too long. */
bool file_request_set_path(struct file_request *request, const char *path);

/* Returns the owner of a process. Event loop only. */
struct owner_key file_store_owner(const struct file_store *store, uint32_t pid);

/* Returns the place of the file of a mapping. Event loop only. */
struct file_place file_store_place(const struct file_store *store,
				   const struct jitbpf_mapping *mapping);

/* Search the files without an answer again, in the rest of the turn. */
void file_store_meet_again(struct file_store *store, uint64_t now_ns);

/* Find the file of a mapping, with a generation of its inode (0: any). Returns as
 * file_reader_find() */
int file_store_find(struct file_user *user, enum file_request_kind kind,
		    const struct jitbpf_mapping *mapping, uint64_t generation,
		    struct found_file *ret);

/* The members of struct file_source; context is a struct file_user. */
int module_files_open(void *context, const struct module *module, struct blob *ret);
int module_files_open_debug(void *context, const struct module *module, const char *path, bool ours,
			    struct blob *ret);
int module_files_allow_check(void *context, const struct module *module, uint64_t size_bytes);
int module_files_fetch_debug(void *context, const struct module *module, const uint8_t *build_id,
			     uint32_t build_id_bytes, struct blob *ret);

#endif
