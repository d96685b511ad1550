/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/format/unnamed_json.h"

#include <errno.h>

#include "base/scope.h"
#include "sink/write/text.h"

int unnamed_json_write(struct json *json, const struct unnamed_file *files, size_t count,
		       const struct file_packages *packages)
{
	CLEANUP(text_deinit) struct text advice = {0};

	json_begin(json, '[');
	for (size_t i = 0; i < count; i++) {
		const struct file_package *package = file_packages_find(packages, files[i].path);

		advice.bytes.size = 0;
		file_packages_put(&advice, packages, &files[i].path, 1);
		text_put(&advice, "", 1);
		json_begin(json, '{');
		json_member_string(json, "file", files[i].path);
		json_member_number(json, "samples", files[i].samples);
		if (package && *package->name)
			json_member_string(json, "package", package->name);
		json_member_string(json, "next", advice.failed ? "" : advice.bytes.data);
		json_end(json, '}');
	}
	json_end(json, ']');
	return advice.failed ? -ENOMEM : 0;
}
