/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the files of modules: those that are known from their mapping, or at the path of a module,
 * if they are the same file. Decides whose files are trusted to describe a module.
 */
#ifndef JITBPF_AGENT_FILES_MODULE_SEARCH_H
#define JITBPF_AGENT_FILES_MODULE_SEARCH_H

#include <stdbool.h>

#include "agent/files/reading/file_reader.h"
#include "state/process/module_table.h"

struct file_user; /* see file_store_state.h */

/*
 * Returns the place of a file for one of the owners of a module: the first one with time for it. So
 * nobody makes a file unavailable to others by mapping it. If none has time, requests fail.
 */
struct file_place module_search_place_of(const struct file_user *user, const struct module *module,
					 struct file_place place);

/* The place of a module's own file. */
struct file_place module_search_place(const struct file_user *user, const struct module *module);

/* Open the file of a module, a module_file_fn. Returns 0 or a negative errno. */
int module_search_find(const struct file_user *user, const struct module *module,
		       struct found_file *ret);

/*
 * Returns 1 if the file at the path of a module in our root has the module's build ID, 0 if not. A
 * module whose file did not answer in time has no build ID: device and inode decide. Returns a
 * negative errno if that cannot be determined.
 */
int module_search_is_here(const struct file_user *user, const struct module *module);

/*
 * Returns true if a debug file may describe a module: its owner could have written the module's
 * file, too. So other users can only affect the names of their own files.
 */
bool module_search_may_describe(const struct file_user *user, const struct module *module,
				const struct found_file *debug);

#endif
