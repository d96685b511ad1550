/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions of libmicrohttpd. The library is loaded at run time: with its own dependencies it adds
 * 2 ms to each start, and most runs have no live page.
 */
#ifndef JITBPF_AGENT_SERVER_SERVER_HTTP_H
#define JITBPF_AGENT_SERVER_SERVER_HTTP_H

#include <microhttpd.h>

#define HTTP_FUNCTIONS(F)                                                                          \
	F(add_response_header)                                                                     \
	F(create_response_from_buffer)                                                             \
	F(create_response_from_callback)                                                           \
	F(destroy_response)                                                                        \
	F(get_connection_info)                                                                     \
	F(get_connection_values)                                                                   \
	F(get_daemon_info)                                                                         \
	F(get_timeout)                                                                             \
	F(queue_response)                                                                          \
	F(resume_connection)                                                                       \
	F(run)                                                                                     \
	F(set_connection_option)                                                                   \
	F(start_daemon)                                                                            \
	F(suspend_connection)

#define HTTP_POINTER(name) __typeof__(MHD_##name) *name;

struct server_http {
	HTTP_FUNCTIONS(HTTP_POINTER)
};

extern struct server_http http; /* NULL before server_http_load() */

/* Returns 0, or -ENOSYS if the library is not installed. */
int server_http_load(void);

#endif
