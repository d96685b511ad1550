/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The last recipe of each file of a runtime that was sampled lately, by user. Another process of
 * that file and user is expected to have the same one, moved to where it has mapped the file. So
 * its recipe can be in force before its runtime has started. Only a reader that looks at the
 * process can confirm it. It is not expected of other users' processes: a process can arrange its
 * memory so that its recipe fits no other one.
 */
#ifndef JITBPF_UNWIND_RUNTIMES_RECIPE_TEMPLATES_H
#define JITBPF_UNWIND_RUNTIMES_RECIPE_TEMPLATES_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/unwind_service.h"

#define RECIPE_TEMPLATES_MAX   32
#define RECIPE_TEMPLATES_SHARE 16

struct recipe_template {
	const struct runtime_known *known; /* owned; NULL: free */
	uint32_t module, uid;
	uint64_t address, file_offset; /* as in the request */
	uint64_t used_ns;
};

/* Zero-initialized is empty. */
struct recipe_templates {
	struct recipe_template templates[RECIPE_TEMPLATES_MAX];
};

/*
 * A request for a process of a user was answered by a recipe, which is copied. The one used least
 * recently makes room: if the user has RECIPE_TEMPLATES_SHARE, one of that user.
 */
void recipe_templates_put(struct recipe_templates *templates, uint32_t uid,
			  const struct unwind_recipe_request *request,
			  const struct runtime_known *known, uint64_t now_ns);

/*
 * Make the recipe that a process of a user is expected to have, which has mapped [address, ...) of
 * a module from file_offset on. Returns false if there is none.
 */
bool recipe_templates_make(struct recipe_templates *templates, uint32_t uid, uint32_t module,
			   uint64_t address, uint64_t file_offset, uint64_t now_ns,
			   struct runtime_known *ret);

void recipe_templates_deinit(struct recipe_templates *templates);

#endif
