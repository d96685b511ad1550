/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads objects of CRuby: strings, arrays, symbols and the names of classes. */
#ifndef JITBPF_RUNTIMES_RUBY_RUBY_OBJECT_H
#define JITBPF_RUNTIMES_RUBY_RUBY_OBJECT_H

#include "runtimes/process_memory.h"
#include "runtimes/ruby/ruby_layout.h"

/* A process whose objects are read. */
struct ruby_memory {
	const struct process_memory *memory;
	const struct ruby_layout *layout;
	uint64_t symbols;    /* address of the table of symbols, rb_symbols_t */
	uint64_t class_path; /* symbol of the variable of a class that has its path; 0: none has */
};

/*
 * Read a string, up to its first NUL, at most bytes_max of it. Bytes that are no UTF-8 become "?".
 * Returns 0 with *ret, which the caller frees; -EBADMSG if it is no string; -ENOMEM or the error of
 * the memory.
 */
int ruby_string_read(const struct ruby_memory *ruby, uint64_t address, size_t bytes_max,
		     char **ret);

/* Read an element of an array. Returns 0, -EBADMSG (it is none) or the error of the memory. */
int ruby_array_at(const struct ruby_memory *ruby, uint64_t address, uint64_t index, uint64_t *ret);

/* Read the name of a symbol: an ID. Returns as ruby_string_read(). */
int ruby_symbol_read(const struct ruby_memory *ruby, uint64_t id, size_t bytes_max, char **ret);

/*
 * Find the symbol of the variable that has the path of a class, by a class whose path is known.
 * Returns 0; -EBADMSG if it has no such variable; or the error of the memory.
 */
int ruby_class_path_find(const struct ruby_memory *ruby, uint64_t class, const char *path,
			 uint64_t *ret);

/*
 * Write the name of a method as Ruby does since 3.4: "Class#method", "Class.method" if it is one
 * of a class itself, and "method" if the class has no name. Returns 0 with *ret, which the caller
 * frees; or as ruby_string_read().
 */
int ruby_method_name(const struct ruby_memory *ruby, uint64_t class, const char *method,
		     char **ret);

/* Read the path of a class. Returns as ruby_string_read(); "" if it has none. */
int ruby_class_name(const struct ruby_memory *ruby, uint64_t class, char **ret);

#endif
