/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/debug/debug_search.h"

#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "base/scope.h"
#include "decode/elf/debug_link.h"

#define DEBUG_ROOT "/usr/lib/debug"

/* The identity of the wanted file. */
struct wanted {
	uint8_t build_id[JITBPF_BUILD_ID_MAX];
	uint32_t build_id_bytes;       /* 0 if the CRC decides */
	const struct debug_link *link; /* NULL if there is no CRC */
	bool *postponed;	       /* set if the file was not checked */
};

static int check_sum(const struct file_source *source, const struct module *module,
		     const struct wanted *wanted, const struct blob *blob)
{
	int err = source->allow_check
			  ? source->allow_check(source->context, module, blob->size_bytes)
			  : 0;

	if (err)
		*wanted->postponed = true;
	return err ?: debug_link_check(wanted->link, blob);
}

static int check_file(const struct file_source *source, const struct module *module,
		      const struct wanted *wanted, const struct blob *blob)
{
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};
	uint8_t build_id[JITBPF_BUILD_ID_MAX];
	uint32_t size_bytes;
	int err = elf_file_init_any(&elf, blob);

	if (err)
		return err;
	size_bytes = elf_file_build_id(&elf, build_id);
	if (wanted->build_id_bytes)
		return size_bytes == wanted->build_id_bytes &&
				       !memcmp(build_id, wanted->build_id, size_bytes)
			       ? 0
			       : -ESTALE;
	return wanted->link ? check_sum(source, module, wanted, blob) : -ESTALE;
}

static int try_path(const struct file_source *source, const struct module *module,
		    const struct wanted *wanted, const char *path, struct blob *ret)
{
	/* A file of that name in a container may be a different one; our own is then tried too. */
	for (int ours = 0; ours < 2; ours++) {
		CLEANUP(blob_close) struct blob blob = {0};
		int err = source->open_debug(source->context, module, path, ours, &blob);

		err = err ?: check_file(source, module, wanted, &blob);
		if (err == -ENOMEM)
			return err;
		if (err)
			continue;
		*ret = blob;
		blob = (struct blob){0};
		return 0;
	}
	return -ENOENT;
}

/* Fetch by build ID. A CRC alone does not identify a file for a server. */
static int try_fetch(const struct file_source *source, const struct module *module,
		     const struct wanted *wanted, struct blob *ret)
{
	CLEANUP(blob_close) struct blob blob = {0};
	int err;

	if (!source->fetch_debug || !wanted->build_id_bytes)
		return -ENOENT;
	err = source->fetch_debug(source->context, module, wanted->build_id, wanted->build_id_bytes,
				  &blob);
	err = err ?: check_file(source, module, wanted, &blob);
	if (err)
		return err == -ENOMEM ? err : -ENOENT;
	*ret = blob;
	blob = (struct blob){0};
	return 0;
}

/* "/usr/lib/debug/.build-id/xx/yyyy.debug" */
static bool build_id_path(const uint8_t *id, uint32_t id_bytes, char path[DEBUG_SEARCH_PATH_MAX])
{
	int length = snprintf(path, DEBUG_SEARCH_PATH_MAX, DEBUG_ROOT "/.build-id/%02x/", id[0]);

	for (uint32_t i = 1; i < id_bytes; i++)
		length += snprintf(path + length, DEBUG_SEARCH_PATH_MAX - (size_t)length, "%02x",
				   id[i]);
	snprintf(path + length, DEBUG_SEARCH_PATH_MAX - (size_t)length, ".debug");
	return id_bytes > 1;
}

static int search_linked(const struct file_source *source, const struct module *module,
			 const struct wanted *wanted, struct debug_search *ret)
{
	static const char *const layouts[] = {"%s%.*s/%s", "%s%.*s/.debug/%s", "%s%.*s/%s"};
	static const char *const roots[] = {"", "", DEBUG_ROOT};
	int err = -ENOENT;

	if (*module->path != '/')
		return -ENOENT;
	for (unsigned i = 0; i < ARRAY_SIZE(layouts) && err == -ENOENT; i++) {
		int length =
			snprintf(ret->path, sizeof(ret->path), layouts[i], roots[i],
				 path_folder_bytes(module->path), module->path, wanted->link->name);

		if (length < (int)sizeof(ret->path))
			err = try_path(source, module, wanted, ret->path, &ret->blob);
	}
	return err;
}

static int search_files(const struct file_source *source, const struct module *module,
			const struct elf_file *elf, struct wanted *wanted, struct debug_search *ret)
{
	struct debug_link link;
	int err = -ENOENT;

	if (build_id_path(wanted->build_id, wanted->build_id_bytes, ret->path))
		err = try_path(source, module, wanted, ret->path, &ret->blob);
	if (err != -ENOENT || debug_link_read(elf, &link))
		return err;
	wanted->link = &link;
	err = search_linked(source, module, wanted, ret);
	wanted->link = NULL;
	return err;
}

int debug_search_file(const struct file_source *source, const struct module *module,
		      const struct blob *blob, struct debug_search *ret)
{
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};
	struct wanted wanted = {.postponed = &ret->postponed};
	int err;

	if (!source->open_debug)
		return -ENOENT;
	err = elf_file_init_any(&elf, blob);
	if (err)
		return err;
	wanted.build_id_bytes = elf_file_build_id(&elf, wanted.build_id);
	err = search_files(source, module, &elf, &wanted, ret);
	if (err != -ENOENT)
		return err;
	*ret->path = 0;
	return try_fetch(source, module, &wanted, &ret->blob);
}

/* Try the path in .gnu_debugaltlink, relative to the file at path. */
static int search_alternate_link(const struct file_source *source, const struct module *module,
				 const struct wanted *wanted, const char *link, const char *path,
				 struct blob *ret)
{
	char tried[DEBUG_SEARCH_PATH_MAX];

	if (*link == '/')
		return try_path(source, module, wanted, link, ret);
	if (!strchr(path, '/') || snprintf(tried, sizeof(tried), "%.*s/%s", path_folder_bytes(path),
					   path, link) >= (int)sizeof(tried))
		return -ENOENT;
	return try_path(source, module, wanted, tried, ret);
}

int debug_search_alternate(const struct file_source *source, const struct module *module,
			   const struct blob *blob, const char *path, struct blob *ret)
{
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};
	AUTO_FREE struct debug_alt_link *link = malloc(sizeof(*link));
	char tried[DEBUG_SEARCH_PATH_MAX];
	struct wanted wanted = {0};
	int err;

	if (!link)
		return -ENOMEM;
	if (!source->open_debug || elf_file_init_any(&elf, blob) || debug_alt_link_read(&elf, link))
		return -ENOENT;
	memcpy(wanted.build_id, link->build_id, sizeof(link->build_id));
	wanted.build_id_bytes = link->build_id_bytes;
	build_id_path(wanted.build_id, wanted.build_id_bytes, tried);
	err = try_path(source, module, &wanted, tried, ret);
	if (err == -ENOENT)
		err = search_alternate_link(source, module, &wanted, link->path, path, ret);
	return err == -ENOENT ? try_fetch(source, module, &wanted, ret) : err;
}
