/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engines/runtime_file.h"

#include <stdint.h>
#include <string.h>

#include "base/text.h"

#define DIGITS "0123456789"
#define NUMBER "0123456789."

/* Returns the text behind a name and its version; NULL if the file has another name. */
static const char *behind_version(const char *file, const char *name, const char *flags)
{
	if (!begins_with(file, name))
		return NULL;
	file += strlen(name);
	if (file[0] == '-' && file[1] && strchr(DIGITS, file[1]))
		file++;
	/* The dot of ".so" is no part of a version. */
	while (*file && (strchr(DIGITS, *file) || (*file == '.' && file[1] != 's')))
		file++;
	return file + strspn(file, flags);
}

bool runtime_file_is_program(const char *file, const char *name, const char *flags)
{
	const char *end = behind_version(file, name, flags);

	return end && !*end;
}

bool runtime_file_is_library(const char *file, const char *name, const char *flags)
{
	const char *end = behind_version(file, name, flags);

	return end && begins_with(end, ".so") && !end[3 + strspn(end + 3, NUMBER)];
}

struct engine_version runtime_file_version(const char *text)
{
	struct engine_version version = {0};

	while (version.parts < ENGINE_VERSION_PARTS) {
		size_t digits = strspn(text, DIGITS);
		uint32_t part = 0;

		if (!digits || digits > 4)
			break;
		for (; digits; digits--)
			part = part * 10 + (uint32_t)(*text++ - '0');
		if (part > ENGINE_VERSION_PART_MAX)
			break;
		version.part[version.parts++] = (uint16_t)part;
		if (*text != '.')
			break;
		text++;
	}
	return version;
}

struct engine_version runtime_file_version_behind(const char *path, const char *mark)
{
	const char *at = path;

	while ((at = strstr(at, mark))) {
		at += strlen(mark);
		if (*at && strchr(DIGITS, *at))
			return runtime_file_version(at);
	}
	return (struct engine_version){0};
}
