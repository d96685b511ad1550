/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the frames of functions of V8, as in Node.js. */
#ifndef JITBPF_RUNTIMES_V8_V8_READER_H
#define JITBPF_RUNTIMES_V8_V8_READER_H

#include "runtimes/runtime_reader.h"

extern const struct runtime_reader v8_reader;

#endif
