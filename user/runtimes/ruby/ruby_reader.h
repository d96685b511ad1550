/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CRuby as a runtime with frames of its own. */
#ifndef JITBPF_RUNTIMES_RUBY_RUBY_READER_H
#define JITBPF_RUNTIMES_RUBY_RUBY_READER_H

#include "runtimes/runtime_reader.h"

extern const struct runtime_reader ruby_reader;

#endif
