/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages of commands, on standard error. */
#ifndef JITBPF_RUN_MESSAGES_SAY_H
#define JITBPF_RUN_MESSAGES_SAY_H

/*
 * Print a message, or a part of one. What it is about can come from others, such as the path of a
 * recording: so control characters become '?', as text_put_name() does it, also ends of lines but
 * for one at the end of the message.
 */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);

#endif
