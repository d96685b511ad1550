/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file store's part for packages: who distributes the files of modules. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/files/file_store_state.h"
#include "agent/files/module_search.h"
#include "agent/files/helper/package_files.h"

_Static_assert(FILE_PACKAGES_MAX <= PACKAGE_PATHS_MAX, "one request is enough");

static enum file_origin origin_of(const struct file_user *user, const struct module *module)
{
	int here = module_search_is_here(user, module);

	/* It was not found when it was mapped. Its symbols were not looked for. */
	if (here <= 0 && module->inode && !module->inode_generation)
		return FILE_ORIGIN_UNREAD;
	if (here < 0)
		return FILE_ORIGIN_UNKNOWN;
	return here ? FILE_ORIGIN_HERE : FILE_ORIGIN_ELSEWHERE;
}

/* Copy a line of an answer without its newline. Returns the text after the line. */
static const char *take_line(const char *text, char *ret, size_t room_bytes)
{
	size_t bytes = strcspn(text, "\n");

	snprintf(ret, room_bytes, "%.*s", (int)bytes, text);
	return text + bytes + (text[bytes] == '\n');
}

static int take_answer(const char *text, const struct module *const modules[], size_t count,
		       const enum file_origin origins[], struct file_packages *ret)
{
	char dpkg[8], name[FILE_PACKAGE_NAME_MAX];
	int err = 0;

	text = take_line(text, ret->distro, sizeof(ret->distro));
	text = take_line(text, ret->release, sizeof(ret->release));
	text = take_line(text, dpkg, sizeof(dpkg));
	ret->has_dpkg = *dpkg;
	for (size_t i = 0; i < count && !err; i++) {
		*name = '\0';
		if (origins[i] == FILE_ORIGIN_HERE)
			text = take_line(text, name, sizeof(name));
		err = file_packages_add(ret, modules[i]->path, origins[i], name);
	}
	return err;
}

int file_store_find_packages(struct file_store *store, const struct module *const modules[],
			     size_t count, struct file_packages *ret)
{
	struct file_request request = {.kind = FILE_READ_PACKAGES};
	enum file_origin origins[FILE_PACKAGES_MAX] = {FILE_ORIGIN_UNKNOWN};
	char answer[FILE_PATH_MAX];
	size_t at = 0, size_bytes;
	int err;

	if (count > FILE_PACKAGES_MAX)
		return -EINVAL;
	for (size_t i = 0; i < count; i++) {
		size_t bytes = strlen(modules[i]->path);

		if (*modules[i]->path != '/' || strchr(modules[i]->path, '\n') ||
		    at + bytes + 2 > sizeof(request.path))
			continue;
		origins[i] = origin_of(&store->packaging, modules[i]);
		if (origins[i] != FILE_ORIGIN_HERE)
			continue;
		memcpy(request.path + at, modules[i]->path, bytes);
		at += bytes;
		request.path[at++] = '\n';
	}
	err = file_reader_names(store->packaging.reader, &request, answer, sizeof(answer),
				&size_bytes);
	if (!err && (!size_bytes || answer[size_bytes - 1]))
		err = -EBADMSG;
	return err ?: take_answer(answer, modules, count, origins, ret);
}
