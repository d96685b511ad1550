/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Escape sequences for terminals. They are written only where view_options.colours allows it. */
#ifndef JITBPF_SINK_WRITE_ESCAPES_H
#define JITBPF_SINK_WRITE_ESCAPES_H

#define ESCAPE_BOLD   "\033[1m"
#define ESCAPE_RED    "\033[31m"
#define ESCAPE_GREEN  "\033[32m"
#define ESCAPE_YELLOW "\033[33m"
#define ESCAPE_BLUE   "\033[34m"
#define ESCAPE_CYAN   "\033[36m"
#define ESCAPE_PLAIN  "\033[m"

#endif
