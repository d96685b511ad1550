/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a function of Perl. */
#ifndef JITBPF_RUNTIMES_PERL_PERL_FUNCTION_H
#define JITBPF_RUNTIMES_PERL_PERL_FUNCTION_H

#include "runtimes/perl/perl_layout.h"
#include "runtimes/runtime_reader.h"

/* The most that reading a function costs, whatever the process has written. */
#define PERL_FUNCTION_READS_MAX 1200
#define PERL_FUNCTION_BYTES_MAX (32u << 10)

/*
 * What identifies a function, for recipes. The object of a frame is the body of its CV. Closures of
 * one function have one check.
 */
struct runtime_check perl_function_check(void);

/* The texts "(eval 1)" and so on, as names of files: each eval of a text has a number of its own.
 */
#define PERL_TEXT_MASK	0xffffffffffffull
#define PERL_TEXT_VALUE 0x206c61766528ull /* "(eval " */

/*
 * As struct runtime_reader's function(). Names are as Perl's caller() has them: "Package::name",
 * "Package::__ANON__". Code of a file that is in no function is "{main} FILE", with the file's name
 * without its folder; of a text that eval was given, "(eval)", which is its file, too. Lines are
 * those of statements: the first line is that of the first one.
 */
int perl_function_read(const struct process_memory *memory, const struct runtime_sections *sections,
		       const struct perl_layout *layout, uint64_t object, uint64_t owner,
		       struct runtime_function *ret);

#endif
