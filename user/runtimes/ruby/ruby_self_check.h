/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compares a layout of CRuby with the structures of a live process. */
#ifndef JITBPF_RUNTIMES_RUBY_RUBY_SELF_CHECK_H
#define JITBPF_RUNTIMES_RUBY_RUBY_SELF_CHECK_H

#include "runtimes/ruby/ruby_object.h"
#include "uapi/runtime_recipe.h"

/*
 * Check the table of symbols, and the class Array at an address; and set ruby->class_path. Returns
 * 0; -ENODATA if Ruby has not started yet; -EBADMSG if something is not as it should be; or the
 * error of the memory.
 */
int ruby_check_objects(struct ruby_memory *ruby, uint64_t array_class);

/*
 * Check the execution context of a thread: it belongs to a thread whose context it is, and the
 * outer ones of its frames have functions that can be read. Returns as ruby_check_objects().
 */
int ruby_check_frames(const struct ruby_memory *ruby, const struct runtime_recipe *recipe,
		      uint64_t thread_pointer);

#endif
