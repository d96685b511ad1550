/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* PHP 7.4 to 8.5, with and without threads, as a runtime with frames of its own. */
#ifndef JITBPF_RUNTIMES_PHP_PHP_READER_H
#define JITBPF_RUNTIMES_PHP_PHP_READER_H

#include "runtimes/runtime_reader.h"

extern const struct runtime_reader php_reader;

#endif
