/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which requests the live page's server answers. */
#include <stdint.h>

#include <stdio.h>
#include <string.h>

#include "base/scope.h"
#include "decode/text/page_request.h"
#include "tests/unit/cases.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

static union data_wanted wanted; /* by the last request */
static const struct request_rules rules = {.token = TOKEN, .port = 7070};

static const struct request good = {
	.method = "GET",
	.path = "/" TOKEN "/",
	.host = "127.0.0.1:7070",
	.hosts = 1,
};

static enum request_answer check_path(const char *path)
{
	struct request request = good;

	request.path = path;
	return page_request_check(&rules, &request, &wanted);
}

CASE(test_paths)
{
	static const char *const others[] = {
		"",
		"/",
		"/favicon.ico",
		"/" TOKEN,
		"/" TOKEN "/x",
		"/" TOKEN "/deltas/",
		"/" TOKEN "//",
		"//" TOKEN "/",
		"/" TOKEN "0/",
		"/" TOKEN "/code",
		"/" TOKEN "/code/",
		"/" TOKEN "/code/1/2",
		"/" TOKEN "/code/1/2/",
		"/" TOKEN "/code/1/2/3/",
		"/" TOKEN "/code/1/2/3/4",
		"/" TOKEN "/code//2/3",
		"/" TOKEN "/code/1/2/+3",
		"/" TOKEN "/code/1/-2/3",
		"/" TOKEN "/code/1/2/3 ",
		"/" TOKEN "/code/01/2/3",
		"/" TOKEN "/code/1/2/00",
		"/" TOKEN "/code/0x1/2/3",
		"/" TOKEN "/code/1/4294967296/3",
		"/" TOKEN "/code/1/18446744073709551617/3",
		"/" TOKEN "/code/1/99999999999999999999999999999999/3",
		"/" TOKEN "/methods/1/2/3",
		"/" TOKEN "/methods/1/2/3/",
		"/" TOKEN "/methods/1/2/3/4/",
		"/" TOKEN "/methods/1/2/3/4/5",
		"/" TOKEN "/methods/1/2//4",
		"/" TOKEN "/methods/1/2/-3/4",
		"/" TOKEN "/methods/1/2/3/4294967296",
		"/" TOKEN "/Methods/1/2/3/4",
		"/" TOKEN "/events/0/code/0/12/3",
		"/" TOKEN "/events/1/code/0/12",
		"/" TOKEN "/events/1/packages",
		"/" TOKEN "/events/1/events/1/code/0/12/3",
		"/" TOKEN "/events/1code/0/12/3",
		"/" TOKEN "/events/4294967296/code/0/12/3",
		"/" TOKEN "/events/1/",
		"/" TOKEN "/events/1",
		"/" TOKEN "xcode/0/12/3",
		"/0123456789ABCDEF0123456789ABCDEF/",
		"/x123456789abcdef0123456789abcdef/",
		"/0123456789abcdef0123456789abcdex/",
		"http://127.0.0.1:7070/" TOKEN "/",
	};

	assert_int_equal(check_path("/" TOKEN "/"), REQUEST_PAGE);
	assert_int_equal(check_path("/" TOKEN "/deltas"), REQUEST_DELTAS);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_int_equal(check_path(others[i]), REQUEST_NOT_FOUND);
}

CASE(test_code)
{
	assert_int_equal(check_path("/" TOKEN "/code/0/12/3"), REQUEST_CODE);
	assert_int_equal(wanted.code.epoch, 0);
	assert_int_equal(wanted.code.location, 12);
	assert_int_equal(wanted.code.generation, 3);
	assert_int_equal(wanted.code.event, 0);
	assert_int_equal(check_path("/" TOKEN "/events/2/code/7/12/3"), REQUEST_CODE);
	assert_int_equal(wanted.code.epoch, 7);
	assert_int_equal(wanted.code.event, 2);
	assert_int_equal(check_path("/" TOKEN "/code/4294967295/4294967295/0"), REQUEST_CODE);
	assert_int_equal(wanted.code.epoch, UINT32_MAX);
	assert_int_equal(wanted.code.location, UINT32_MAX);
	assert_int_equal(wanted.code.generation, 0);
}

CASE(test_methods_of_code)
{
	assert_int_equal(check_path("/" TOKEN "/methods/1/20/40/0"), REQUEST_METHODS);
	assert_int_equal(wanted.methods.epoch, 1);
	assert_int_equal(wanted.methods.from, 20);
	assert_int_equal(wanted.methods.to, 40);
	assert_int_equal(wanted.methods.method, 0);
	assert_int_equal(wanted.methods.event, 0);
	assert_int_equal(check_path("/" TOKEN "/events/9/methods/1/20/40/0"), REQUEST_METHODS);
	assert_int_equal(wanted.methods.event, 9);
	assert_int_equal(check_path("/" TOKEN "/methods/0/9/4294967295/4294967295"),
			 REQUEST_METHODS);
	assert_int_equal(wanted.methods.from, 9);
	assert_int_equal(wanted.methods.to, UINT32_MAX);
	assert_int_equal(wanted.methods.method, UINT32_MAX);
}

/* Each digit of the token counts. */
CASE(test_token)
{
	char path[] = "/" TOKEN "/";

	for (size_t i = 1; i <= TOKEN_DIGITS; i++) {
		char digit = path[i];

		path[i] = digit == '7' ? '8' : '7';
		assert_int_equal(check_path(path), REQUEST_NOT_FOUND);
		path[i] = digit;
	}
	assert_int_equal(check_path(path), REQUEST_PAGE);
}

CASE(test_methods)
{
	static const char *const others[] = {"POST", "HEAD",	"OPTIONS", "get",
					     "",     "CONNECT", "GETT"};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		struct request request = good;

		request.method = others[i];
		assert_int_equal(page_request_check(&rules, &request, &wanted), REQUEST_BAD_METHOD);
	}
}

static enum request_answer check_host(const char *host, uint32_t count)
{
	struct request request = good;

	request.host = host;
	request.hosts = count;
	return page_request_check(&rules, &request, &wanted);
}

CASE(test_hosts)
{
	static const char *const others[] = {
		"",
		"127.0.0.1",
		"localhost",
		"127.0.0.1:7071",
		"127.0.0.1:70700",
		"127.0.0.1:07070",
		"[::1]:7070",
		"attacker.example:7070",
		"127.0.0.1:7070.attacker.example",
		"127.0.0.1:7070 ",
		"localhost.:7070",
		"0.0.0.0:7070",
		"x@localhost:7070",
		"localhost:7070,x",
	};

	assert_int_equal(check_host("localhost:7070", 1), REQUEST_PAGE);
	assert_int_equal(check_host("LocalHost:7070", 1), REQUEST_PAGE);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_int_equal(check_host(others[i], 1), REQUEST_FORBIDDEN);
	assert_int_equal(check_host(NULL, 0), REQUEST_BAD);
	assert_int_equal(check_host(NULL, 1), REQUEST_BAD);
	assert_int_equal(check_host("127.0.0.1:7070", 2), REQUEST_BAD);
}

static enum request_answer check_origin(const char *origin, uint32_t count)
{
	struct request request = good;

	request.origin = origin;
	request.origins = count;
	return page_request_check(&rules, &request, &wanted);
}

CASE(test_origins)
{
	static const char *const others[] = {
		"",
		"null",
		"https://127.0.0.1:7070",
		"http://127.0.0.1",
		"http://127.0.0.1:8080",
		"http://attacker.example",
		"http://127.0.0.1:7070/",
	};

	assert_int_equal(check_origin("http://127.0.0.1:7070", 1), REQUEST_PAGE);
	assert_int_equal(check_origin("http://localhost:7070", 1), REQUEST_PAGE);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_int_equal(check_origin(others[i], 1), REQUEST_FORBIDDEN);
	assert_int_equal(check_origin("http://127.0.0.1:7070", 2), REQUEST_BAD);
}

/* Another site's page may link to the page, but not read the data. */
CASE(test_fetch_sites)
{
	static const char *const sites[] = {"same-site", "cross-site", "none", ""};
	static const char *const paths[] = {"/" TOKEN "/code/0/1/2", "/" TOKEN "/methods/0/1/2/3",
					    "/" TOKEN "/recording", "/" TOKEN "/packages",
					    "/" TOKEN "/deltas"};
	struct request request = good;

	for (size_t i = 0; i < ARRAY_SIZE(sites); i++) {
		request.fetch_site = sites[i];
		request.path = "/" TOKEN "/";
		assert_int_equal(page_request_check(&rules, &request, &wanted), REQUEST_PAGE);
		for (size_t data = 0; data < ARRAY_SIZE(paths); data++) {
			request.path = paths[data];
			assert_int_equal(page_request_check(&rules, &request, &wanted),
					 REQUEST_FORBIDDEN);
		}
	}
	request.fetch_site = "same-origin";
	assert_int_equal(page_request_check(&rules, &request, &wanted), REQUEST_DELTAS);
}
