/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/text/page_request.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/scope.h"

static const char *const host_names[] = {"127.0.0.1", "localhost"};

/* Returns true if text is `prefix` with one of our names and our port. */
static bool is_ours(const struct request_rules *rules, const char *prefix, const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(host_names); i++) {
		char ours[64];

		snprintf(ours, sizeof(ours), "%s%s:%u", prefix, host_names[i], rules->port);
		if (!strcasecmp(text, ours))
			return true;
	}
	return false;
}

/* Compares in constant time, so that the time does not reveal the first wrong digit. */
static bool is_token(const struct request_rules *rules, const char *digits)
{
	unsigned int differences = 0;

	for (size_t i = 0; i < TOKEN_DIGITS; i++)
		differences |= (unsigned char)digits[i] ^ (unsigned char)rules->token[i];
	return !differences;
}

/* Read a number without leading zeros, and the character behind it. */
static bool take_number(const char **path, char end, uint32_t *ret)
{
	const char *at = *path;
	uint64_t value = 0;

	if (*at < '0' || *at > '9' || (*at == '0' && at[1] != end))
		return false;
	for (; *at >= '0' && *at <= '9'; at++) {
		value = 10 * value + (uint64_t)(*at - '0');
		if (value > UINT32_MAX)
			return false;
	}
	if (*at != end)
		return false;
	*path = at + (end != 0);
	*ret = (uint32_t)value;
	return true;
}

static enum request_answer check_code(const char *path, uint32_t event, union data_wanted *ret)
{
	struct code_wanted code = {.event = event};

	if (!take_number(&path, '/', &code.epoch) || !take_number(&path, '/', &code.location) ||
	    !take_number(&path, 0, &code.generation))
		return REQUEST_NOT_FOUND;
	ret->code = code;
	return REQUEST_CODE;
}

static enum request_answer check_methods(const char *path, uint32_t event, union data_wanted *ret)
{
	struct methods_wanted methods = {.event = event};

	if (!take_number(&path, '/', &methods.epoch) || !take_number(&path, '/', &methods.from) ||
	    !take_number(&path, '/', &methods.to) || !take_number(&path, 0, &methods.method))
		return REQUEST_NOT_FOUND;
	ret->methods = methods;
	return REQUEST_METHODS;
}

/* What counts samples. */
static enum request_answer check_samples(const char *path, uint32_t event, union data_wanted *ret)
{
	static const char code[] = "code/", methods[] = "methods/";

	if (!strncmp(path, code, strlen(code)))
		return check_code(path + strlen(code), event, ret);
	if (!strncmp(path, methods, strlen(methods)))
		return check_methods(path + strlen(methods), event, ret);
	return REQUEST_NOT_FOUND;
}

static enum request_answer check_path(const struct request_rules *rules, const char *path,
				      union data_wanted *ret_data)
{
	static const char events[] = "/events/";
	uint32_t event;

	if (strlen(path) < TOKEN_DIGITS + 2 || path[0] != '/' || !is_token(rules, path + 1))
		return REQUEST_NOT_FOUND;
	path += 1 + TOKEN_DIGITS;
	if (!strcmp(path, "/"))
		return REQUEST_PAGE;
	if (!strncmp(path, events, strlen(events))) {
		path += strlen(events);
		return take_number(&path, '/', &event) && event
			       ? check_samples(path, event, ret_data)
			       : REQUEST_NOT_FOUND;
	}
	if (!strcmp(path, "/packages"))
		return REQUEST_PACKAGES;
	if (!strcmp(path, "/recording"))
		return REQUEST_RECORDING;
	if (!strcmp(path, "/deltas"))
		return REQUEST_DELTAS;
	return *path == '/' ? check_samples(path + 1, 0, ret_data) : REQUEST_NOT_FOUND;
}

enum request_answer page_request_check(const struct request_rules *rules,
				       const struct request *request, union data_wanted *ret_data)
{
	enum request_answer answer;

	if (strcmp(request->method, "GET"))
		return REQUEST_BAD_METHOD;
	if (request->hosts != 1 || !request->host || request->origins > 1)
		return REQUEST_BAD;
	if (!is_ours(rules, "", request->host) ||
	    (request->origin && !is_ours(rules, "http://", request->origin)))
		return REQUEST_FORBIDDEN;
	answer = check_path(rules, request->path, ret_data);
	/* A link elsewhere may lead to the page, but only the page reads the data. */
	if (answer < REQUEST_REFUSED && answer != REQUEST_PAGE && request->fetch_site &&
	    strcmp(request->fetch_site, "same-origin"))
		return REQUEST_FORBIDDEN;
	return answer;
}
