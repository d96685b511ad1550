/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Values of options, as text. */
#ifndef JITBPF_CLI_OPTIONS_OPTION_VALUES_H
#define JITBPF_CLI_OPTIONS_OPTION_VALUES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/options/options.h"

/*
 * Parse a duration: a number of seconds, possibly with a fraction, or a number with the unit ms, s,
 * m or h. Returns false if it is none or longer than 10^9 s; *ret_ns is then unchanged.
 */
bool duration_parse(const char *text, uint64_t *ret_ns);

/*
 * Parse a size: a number of bytes, or a number, possibly with a fraction, and K, M or G (powers of
 * 1,024), or KB, MB or GB (powers of 1,000). Case does not matter. Returns false if it is none;
 * *ret_bytes is then unchanged.
 */
bool size_parse(const char *text, uint64_t *ret_bytes);

/* Parse text into the value of an option. Returns false if it is not valid. */
bool option_set_value(const struct option_spec *option, const char *text, void *value);

/* Print the expected kind of value. */
void option_print_wanted(FILE *out, const struct option_spec *option);

/* Print "a, b or c" for a choice, "a, b, c" for a set. */
void option_print_choices(FILE *out, const struct option_spec *option);

#endif
