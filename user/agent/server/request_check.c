/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/server/request_check.h"

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

/* The time does not depend on where the first wrong digit is. */
static bool is_token(const struct request_rules *rules, const char *digits)
{
	unsigned int differences = 0;

	for (size_t i = 0; i < TOKEN_DIGITS; i++)
		differences |= (unsigned char)digits[i] ^ (unsigned char)rules->token[i];
	return !differences;
}

static enum request_answer check_path(const struct request_rules *rules, const char *path)
{
	if (strlen(path) < TOKEN_DIGITS + 2 || path[0] != '/' || !is_token(rules, path + 1))
		return REQUEST_NOT_FOUND;
	path += 1 + TOKEN_DIGITS;
	if (!strcmp(path, "/"))
		return REQUEST_PAGE;
	return strcmp(path, "/deltas") ? REQUEST_NOT_FOUND : REQUEST_DELTAS;
}

enum request_answer request_check(const struct request_rules *rules, const struct request *request)
{
	enum request_answer answer;

	if (strcmp(request->method, "GET"))
		return REQUEST_BAD_METHOD;
	if (request->hosts != 1 || !request->host || request->origins > 1)
		return REQUEST_BAD;
	if (!is_ours(rules, "", request->host) ||
	    (request->origin && !is_ours(rules, "http://", request->origin)))
		return REQUEST_FORBIDDEN;
	answer = check_path(rules, request->path);
	/* A link elsewhere may lead to the page, but only the page reads the data. */
	if (answer == REQUEST_DELTAS && request->fetch_site &&
	    strcmp(request->fetch_site, "same-origin"))
		return REQUEST_FORBIDDEN;
	return answer;
}
