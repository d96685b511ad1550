/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which requests the live page's server answers. The path has a random token. Host and Origin
 * must be ours, so that pages of other sites reach nothing, even under a name that resolves to
 * 127.0.0.1.
 */
#ifndef JITBPF_AGENT_SERVER_REQUEST_CHECK_H
#define JITBPF_AGENT_SERVER_REQUEST_CHECK_H

#include <stdint.h>

#define TOKEN_DIGITS 32 /* 128 bits in hexadecimal */

struct request_rules {
	char token[TOKEN_DIGITS + 1];
	uint16_t port;
};

/* The code of a function, by a location in it. Numbers are the browser's: any are possible. */
struct code_wanted {
	uint32_t epoch, location;
	uint32_t generation; /* from 1 on; 0: the one with most samples */
};

/* Texts are borrowed. A header that is absent is NULL. */
struct request {
	const char *method;
	const char *path; /* without the query */
	const char *host, *origin, *fetch_site;
	uint32_t hosts, origins; /* how many headers of the name there are */
};

enum request_answer {
	REQUEST_PAGE,
	REQUEST_DELTAS,
	REQUEST_CODE,	 /* the path is /TOKEN/code/EPOCH/LOCATION/GENERATION */
	REQUEST_REFUSED, /* from here on, refusals */
	REQUEST_BAD = REQUEST_REFUSED,
	REQUEST_FORBIDDEN,
	REQUEST_NOT_FOUND,
	REQUEST_BAD_METHOD,
};

/* Sets *ret_code with REQUEST_CODE only. */
enum request_answer request_check(const struct request_rules *rules, const struct request *request,
				  struct code_wanted *ret_code);

#endif
