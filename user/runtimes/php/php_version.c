/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/php/php_version.h"

#include <errno.h>
#include <stdio.h>

#include "runtimes/php/php_accessor.h"

#define TEXT_BYTES 24 /* of "Zend Engine v4.2.36, Copyright (c) Zend Technologies" */

static int of_engine_text(const char *text, struct engine_version *ret)
{
	unsigned int major, minor, patch;

	if (sscanf(text, "Zend Engine v%4u.%4u.%4u", &major, &minor, &patch) != 3 ||
	    minor > ENGINE_VERSION_PART_MAX || patch > ENGINE_VERSION_PART_MAX)
		return -ENOTSUP;
	if (major == 3)
		*ret = (struct engine_version){.part = {7, minor}, .parts = 2};
	else if (major == 4)
		*ret = (struct engine_version){.part = {8, minor, patch}, .parts = 3};
	else
		return -ENOTSUP;
	return 0;
}

int php_version_read(const struct php_file *file, uint64_t bias,
		     const struct process_memory *memory, struct engine_version *ret)
{
	char text[TEXT_BYTES + 1] = "";
	uint64_t value;
	int err;

	if (file->version_id && !php_accessor_read(memory, file->version_id + bias, &value) &&
	    value / 10000 <= ENGINE_VERSION_PART_MAX) {
		*ret = (struct engine_version){
			.part = {value / 10000, value / 100 % 100, value % 100}, .parts = 3};
		return 0;
	}
	if (!file->engine_version)
		return -ENOENT;
	err = php_accessor_read(memory, file->engine_version + bias, &value);
	if (!err && !value)
		return -ENODATA;
	err = err ?: process_memory_read(memory, value, text, TEXT_BYTES);
	return err ?: of_engine_text(text, ret);
}
