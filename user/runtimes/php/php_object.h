/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What was read of one object of PHP's struct zend_function. */
#ifndef JITBPF_RUNTIMES_PHP_PHP_OBJECT_H
#define JITBPF_RUNTIMES_PHP_PHP_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "runtimes/php/php_layout.h"
#include "runtimes/php/php_string.h"
#include "runtimes/runtime_reader.h"

#define PHP_OBJECT_BYTES 184 /* up to and with the line numbers of the newest layout */

struct php_object {
	const struct php_layout *layout; /* set before php_object_read() */
	uint8_t bytes[PHP_OBJECT_BYTES]; /* of a function of C: up to and with its class */
	uint8_t type;
	struct php_string name, file, class_name;
	uint64_t class_name_at; /* the word at PHP_CLASS_NAME of the class; 0: there is no class */
};

/*
 * Read the object at an address. Returns 0, -EBADMSG if it is no function, or an error of
 * process_memory_read(). f is to be deinitialized in each case.
 */
int php_object_read(const struct process_memory *memory, uint64_t object, struct php_object *f);

void php_object_deinit(struct php_object *f);

/* Returns true for a function of C, which has no instructions and no file. */
bool php_object_is_native(const struct php_object *f);

/* Return the 8 or 4 bytes at an offset. */
uint64_t php_object_word(const struct php_object *f, int16_t offset);
uint32_t php_object_half(const struct php_object *f, int16_t offset);

/* Set *ret to the name (php_function.h), which the caller frees. Returns 0 or -ENOMEM. */
int php_object_name(const struct php_object *f, char **ret);

/* Give an original the class that copies get from their maker. Returns 0 or -ENOMEM. */
int php_object_set_class(struct php_object *f, const struct php_object *maker);

/* What identifies a function of PHP, for recipes. */
struct runtime_check php_function_check(const struct php_layout *layout);

/* Returns what the words of php_function_check() are folded to. */
uint64_t php_object_check(const struct php_object *f);

#endif
