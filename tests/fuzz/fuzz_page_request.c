/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A request to the live page's server: lines of the method, path, Host, Origin and Sec-Fetch-Site;
 * those that are missing are absent. What is accepted has our host and token, and a path that is
 * written again from the numbers is the same.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "check.h"
#include "decode/text/page_request.h"
#include "tests/fuzz/seeds.h"

#define TOKEN "0123456789abcdef0123456789abcdef"
#define LINES 5

static const struct request_rules rules = {.token = TOKEN, .port = 7070};

SEEDS(7);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void check_ours(const char *text, const char *prefix)
{
	size_t size = strlen(prefix);

	CHECK(!strncasecmp(text, prefix, size));
	CHECK(!strcasecmp(text + size, "127.0.0.1:7070") ||
	      !strcasecmp(text + size, "localhost:7070"));
}

/* The path of what was accepted; "" for refusals. */
static void path_of(enum request_answer answer, const union data_wanted *wanted, char *ret,
		    size_t size)
{
	const struct code_wanted *code = &wanted->code;
	const struct methods_wanted *methods = &wanted->methods;

	*ret = 0;
	if (answer == REQUEST_PAGE)
		snprintf(ret, size, "/" TOKEN "/");
	else if (answer == REQUEST_DELTAS)
		snprintf(ret, size, "/" TOKEN "/deltas");
	else if (answer == REQUEST_PACKAGES)
		snprintf(ret, size, "/" TOKEN "/packages");
	else if (answer == REQUEST_RECORDING)
		snprintf(ret, size, "/" TOKEN "/recording");
	else if (answer == REQUEST_CODE)
		snprintf(ret, size, "/" TOKEN "/code/%u/%u/%u", code->epoch, code->location,
			 code->generation);
	else if (answer == REQUEST_METHODS)
		snprintf(ret, size, "/" TOKEN "/methods/%u/%u/%u/%u", methods->epoch, methods->from,
			 methods->to, methods->method);
}

static void check(char *lines[LINES])
{
	struct request request = {
		.method = lines[0] ?: "",
		.path = lines[1] ?: "",
		.host = lines[2],
		.origin = lines[3],
		.fetch_site = lines[4],
		.hosts = lines[2] != NULL,
		.origins = lines[3] != NULL,
	};
	union data_wanted wanted = {0};
	enum request_answer answer = page_request_check(&rules, &request, &wanted);
	char path[128];

	CHECK(answer <= REQUEST_BAD_METHOD);
	if (answer >= REQUEST_REFUSED)
		return;
	seed_taken();
	CHECK(!strcmp(request.method, "GET") && request.host);
	check_ours(request.host, "");
	if (request.origin)
		check_ours(request.origin, "http://");
	CHECK(answer == REQUEST_PAGE || !request.fetch_site ||
	      !strcmp(request.fetch_site, "same-origin"));
	path_of(answer, &wanted, path, sizeof(path));
	CHECK(!strcmp(path, request.path));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	char *text = malloc(size_bytes + 1), *lines[LINES] = {0}, *rest = text;

	if (!text)
		return 0;
	memcpy(text, data, size_bytes);
	text[size_bytes] = 0;
	for (size_t i = 0; i < LINES && rest; i++)
		lines[i] = strsep(&rest, "\n");
	check(lines);
	free(text);
	return 0;
}
