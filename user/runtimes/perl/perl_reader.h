/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Perl 5 as a runtime with frames of its own. */
#ifndef JITBPF_RUNTIMES_PERL_PERL_READER_H
#define JITBPF_RUNTIMES_PERL_PERL_READER_H

#include "runtimes/runtime_reader.h"

extern const struct runtime_reader perl_reader;

#endif
