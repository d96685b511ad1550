/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a function of CRuby. */
#ifndef JITBPF_RUNTIMES_RUBY_RUBY_FUNCTION_H
#define JITBPF_RUNTIMES_RUBY_RUBY_FUNCTION_H

#include "runtimes/ruby/ruby_object.h"
#include "runtimes/runtime_reader.h"

/* The most that reading a function costs, whatever the process has written. */
#define RUBY_FUNCTION_READS_MAX 1024
#define RUBY_FUNCTION_BYTES_MAX (320u << 10)

/*
 * What identifies a function, for recipes. The object of a frame of Ruby is the body of its code,
 * rb_iseq_constant_body, which no garbage collection moves. Its owner is the method that it belongs
 * to; code outside of methods has none. The object of a function of C is the method itself.
 */
struct runtime_check ruby_function_check(const struct ruby_layout *layout);
struct runtime_owner ruby_function_owner(void);

/*
 * As struct runtime_reader's function(). Names are as Ruby 3.4 writes them: "Class#method",
 * "block in Class#method", "<class:Name>", "<main>". A file is its absolute path, if it has one.
 */
int ruby_function_read(const struct ruby_memory *ruby, const struct runtime_owner *owner_check,
		       uint64_t object, uint64_t owner, struct runtime_function *ret);

#endif
