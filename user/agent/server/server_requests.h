/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks and answers the requests of browsers. */
#ifndef JITBPF_AGENT_SERVER_SERVER_REQUESTS_H
#define JITBPF_AGENT_SERVER_SERVER_REQUESTS_H

#include "agent/server/server_state.h"

/* An MHD_AccessHandlerCallback, whose context is the struct server. */
enum MHD_Result server_take_request(void *server, struct MHD_Connection *mhd, const char *path,
				    const char *method, const char *version, const char *body,
				    size_t *body_bytes, void **context);

/* Returns true if an enum server_want has an answer, whose time and size are limited. */
bool server_is_answer(uint32_t want);

/* Returns the number of open streams that have the same limit as `want`: all answers share one. */
uint32_t server_count_streams(const struct server *server, uint32_t want);

#endif
