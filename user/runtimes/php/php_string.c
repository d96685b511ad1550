/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/php/php_string.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/utf8.h"
#include "runtimes/php/php_layout.h"

int php_string_read(const struct process_memory *memory, uint64_t address, size_t bytes_max,
		    struct php_string *ret)
{
	uint64_t head[PHP_STRING_BYTES / 8] = {0};
	AUTO_FREE char *text = NULL;
	uint64_t length;
	size_t bytes;
	int err = address ? process_memory_read(memory, address, head, sizeof(head)) : 0;

	if (err)
		return err;
	length = head[PHP_STRING_LENGTH / 8];
	if (length > PHP_STRING_LENGTH_MAX)
		return -EBADMSG;
	bytes = length < bytes_max ? length : bytes_max;
	text = calloc(1, bytes + 1);
	if (!text)
		return -ENOMEM;
	if (bytes)
		err = process_memory_read(memory, address + PHP_STRING_BYTES, text, bytes);
	if (err)
		return err;
	utf8_mend(text, bytes < length);
	*ret = (struct php_string){.text = TAKE_PTR(text), .hash = head[PHP_STRING_HASH / 8]};
	return 0;
}
