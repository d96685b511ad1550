/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decides which requests the live page's server answers. The path must have the random token. Host
 * and Origin must be ours. So a page of another site gets no answer, even under a name that
 * resolves to 127.0.0.1.
 */
#ifndef JITBPF_DECODE_TEXT_PAGE_REQUEST_H
#define JITBPF_DECODE_TEXT_PAGE_REQUEST_H

#include <stdint.h>

#define TOKEN_DIGITS 32 /* 128 bits in hexadecimal */

struct request_rules {
	char token[TOKEN_DIGITS + 1];
	uint16_t port;
};

/* The numbers of these requests come from the browser, so any value is possible. */

/* The code of a function, by a location in it. */
struct code_wanted {
	uint32_t epoch, location;
	uint32_t generation; /* from 1 on; 0: the one with most samples */
	uint32_t event;	     /* whose samples are counted */
};

/* The JIT methods that were loaded or ended in a range of time, or all lives of one of them. */
struct methods_wanted {
	uint32_t epoch;
	uint32_t from, to; /* ticks since the start of the epoch; to UINT32_MAX: no end */
	uint32_t method;   /* number of a life of the method; 0: all methods of the range */
	uint32_t event;	   /* whose samples are counted */
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
	REQUEST_PACKAGES,  /* of files without names; the path is /TOKEN/packages */
	REQUEST_RECORDING, /* a copy of the recording; the path is /TOKEN/recording */
	REQUEST_CODE,	   /* the path is /TOKEN/code/EPOCH/LOCATION/GENERATION */
	REQUEST_METHODS,   /* the path is /TOKEN/methods/EPOCH/FROM/TO/METHOD */
	REQUEST_REFUSED,   /* from here on, refusals */
	REQUEST_BAD = REQUEST_REFUSED,
	REQUEST_FORBIDDEN,
	REQUEST_NOT_FOUND,
	REQUEST_BAD_METHOD,
};

/*
 * The parameters of a REQUEST_CODE or REQUEST_METHODS. Samples of an event from 1 on are requested
 * by events/EVENT/ in the path before `code` or `methods`.
 */
union data_wanted {
	struct code_wanted code;
	struct methods_wanted methods;
};

/* Sets *ret_data with REQUEST_CODE and REQUEST_METHODS only. */
enum request_answer page_request_check(const struct request_rules *rules,
				       const struct request *request, union data_wanted *ret_data);

#endif
