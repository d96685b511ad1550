/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/options/option_values.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"

/* Parse a decimal number at the start of text. Sets *ret_end to the first character after it. */
static bool parse_whole(const char *text, const char **ret_end, uint64_t *ret)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	*ret_end = end;
	return !errno;
}

/* As outputs show sizes, KB, MB and GB are powers of 1,000; K, M and G are powers of 1,024. */
static bool parse_unit(const char *text, uint64_t *ret)
{
	static const char units[] = "KMG";
	const char *unit = *text ? strchr(units, *text & ~0x20) : NULL;
	bool decimal = unit && (text[1] & ~0x20) == 'B';

	*ret = 1;
	for (const char *at = units; unit && at <= unit; at++)
		*ret *= decimal ? 1000 : 1024;
	return !text[(unit ? 1 : 0) + decimal];
}

bool size_parse(const char *text, uint64_t *ret)
{
	uint64_t whole, scale, more;
	double fraction = 0;
	const char *end;

	if (!parse_whole(text, &end, &whole))
		return false;
	if (*end == '.') {
		size_t digits = strspn(end + 1, "0123456789");

		if (!digits)
			return false;
		fraction = strtod(end, NULL);
		end += 1 + digits;
	}
	if (!parse_unit(end, &scale) || (fraction > 0 && scale == 1) || fraction >= 1 ||
	    whole > UINT64_MAX / scale)
		return false;
	more = (uint64_t)(fraction * (double)scale);
	if (whole * scale > UINT64_MAX - more)
		return false;
	*ret = whole * scale + more;
	return true;
}

bool duration_parse(const char *text, uint64_t *ret_ns)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = {{"", 1}, {"s", 1}, {"ms", 0.001}, {"m", 60}, {"h", 3600}};
	size_t digits = strspn(text, "0123456789.");
	double number, seconds;
	char *end;

	number = strtod(text, &end);
	if (!digits || end != text + digits)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(end, units[i].name) != 0)
			continue;
		seconds = number * units[i].seconds;
		if (seconds > 1e9)
			return false;
		*ret_ns = (uint64_t)(seconds * 1e9 + 0.5);
		return true;
	}
	return false;
}

static bool parse_pids(const char *text, pid_list *ret)
{
	uint64_t pid;

	do {
		if (!parse_whole(text, &text, &pid) || !pid || pid > INT32_MAX ||
		    vec_push(ret, (uint32_t)pid))
			return false;
	} while (*text == ',' && text++);
	return !*text;
}

static bool find_choice(const struct option_spec *option, const char *name, size_t bytes,
			uint32_t *ret)
{
	for (uint32_t i = 0; option->choices[i]; i++) {
		if (strlen(option->choices[i]) == bytes &&
		    !memcmp(option->choices[i], name, bytes)) {
			*ret = i;
			return true;
		}
	}
	return false;
}

static bool parse_set(const struct option_spec *option, const char *text, uint32_t *value)
{
	bool relative = *text == '+' || *text == '-';
	uint32_t set = relative ? *value ?: option->empty_set : 0, choice;

	for (bool more = true; more; text++) {
		bool removes = relative && *text == '-';
		const char *end;

		if (relative && *text != '+' && *text != '-')
			return false;
		text += relative;
		end = strchrnul(text, ',');
		if (!find_choice(option, text, (size_t)(end - text), &choice))
			return false;
		set = removes ? set & ~(1u << choice) : set | 1u << choice;
		more = *end;
		text = end;
	}
	*value = set;
	return set != 0;
}

bool option_set_value(const struct option_spec *option, const char *text, void *value)
{
	const char *end;
	uint64_t number = 0;

	switch (option->type) {
	case OPTION_FLAG:
		*(bool *)value = true;
		return true;
	case OPTION_STRING:
		*(const char **)value = text;
		return true;
	case OPTION_STRINGS:
		return !vec_push((string_list *)value, text);
	case OPTION_PIDS:
		return parse_pids(text, value);
	case OPTION_CHOICE:
		return find_choice(option, text, strlen(text), value);
	case OPTION_SET:
		return parse_set(option, text, value);
	case OPTION_NUMBER:
		if (!parse_whole(text, &end, &number) || *end)
			return false;
		break;
	case OPTION_SECONDS:
		if (!duration_parse(text, &number))
			return false;
		break;
	case OPTION_SIZE:
		if (!size_parse(text, &number))
			return false;
		break;
	}
	if (number < option->min || number > option->max)
		return false;
	if (option->type == OPTION_NUMBER)
		*(uint32_t *)value = (uint32_t)number;
	else
		*(uint64_t *)value = number;
	return true;
}

void option_print_choices(FILE *out, const struct option_spec *option)
{
	for (size_t i = 0; option->choices[i]; i++) {
		bool last = !option->choices[i + 1] && option->type == OPTION_CHOICE;

		fprintf(out, "%s%s", !i ? "" : last ? " or " : ", ", option->choices[i]);
	}
}

/* As the user would write it: with the largest unit of which it is a multiple. */
static void print_size(FILE *out, uint64_t bytes)
{
	static const char units[] = "KMGT";
	size_t unit = 0;

	while (bytes && !(bytes % 1024) && units[unit]) {
		bytes /= 1024;
		unit++;
	}
	fprintf(out, "%" PRIu64, bytes);
	if (unit)
		fputc(units[unit - 1], out);
	else
		fputs(" bytes", out);
}

static void print_sizes(FILE *out, const struct option_spec *option)
{
	fprintf(out, "a size from ");
	print_size(out, option->min);
	if (option->max < UINT64_MAX) {
		fprintf(out, " to ");
		print_size(out, option->max);
	}
	fprintf(out, " (units: K, M, G, KB, MB or GB)");
}

void option_print_wanted(FILE *out, const struct option_spec *option)
{
	switch (option->type) {
	case OPTION_NUMBER:
		fprintf(out, "a number from %" PRIu64 " to %" PRIu64, option->min, option->max);
		break;
	case OPTION_SIZE:
		print_sizes(out, option);
		break;
	case OPTION_SECONDS:
		fprintf(out, "a duration, such as 10, 0.5, 500ms, 2m or 1h");
		break;
	case OPTION_PIDS:
		fprintf(out, "comma-separated numbers above 0");
		break;
	case OPTION_SET:
		fprintf(out, "some of ");
		option_print_choices(out, option);
		break;
	case OPTION_CHOICE:
		option_print_choices(out, option);
		break;
	default:
		fprintf(out, "a value");
	}
}
