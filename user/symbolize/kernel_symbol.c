/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/kernel_symbol.h"

#include <stddef.h>
#include <string.h>

#include "base/text.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Parse "0x" and digits. Returns the position after them, or NULL if there is no number. */
static const char *hex_number(const char *at, uint64_t *ret)
{
	uint64_t number = 0;
	const char *begin;
	int digit;

	if (at[0] != '0' || at[1] != 'x')
		return NULL;
	begin = at += 2;
	for (; (digit = hex_digit(*at)) >= 0; at++)
		number = number << 4 | (uint64_t)digit;
	if (at == begin || at - begin > 16)
		return NULL;
	*ret = number;
	return at;
}

/* Parse " [module]" at the end; without it *ret is NULL, for the kernel itself. */
static bool module_read(const char *at, const char **ret)
{
	size_t size_bytes = strlen(at);

	if (!size_bytes) {
		*ret = NULL;
		return true;
	}
	if (size_bytes < 4 || at[0] != ' ' || at[1] != '[' || at[size_bytes - 1] != ']')
		return false;
	*ret = at + 1;
	return true;
}

/*
 * Returns true for names of BPF programs, which kallsyms puts into "[bpf]".
 * Kernel functions have similar names, without the digits.
 */
static bool is_of_bpf(const char *name)
{
	static const char program[] = "bpf_prog_", trampoline[] = "bpf_trampoline_";
	size_t digits;

	if (begins_with(name, program)) {
		name += strlen(program);
		digits = strspn(name, "0123456789abcdef");
		return digits == 16 && (name[digits] == '_' || !name[digits]);
	}
	if (begins_with(name, trampoline))
		return name[strlen(trampoline)] >= '0' && name[strlen(trampoline)] <= '9';
	return false;
}

bool kernel_symbol_parse(char *words, struct kernel_symbol *ret)
{
	struct kernel_symbol symbol = {.name = words};
	char *plus = strchr(words, '+'); /* no kernel symbol contains '+' */
	const char *at;
	uint64_t size_bytes;

	if (!plus || plus == words)
		return false;
	at = hex_number(plus + 1, &symbol.offset);
	if (!at || *at != '/')
		return false;
	at = hex_number(at + 1, &size_bytes);
	if (!at || !module_read(at, &symbol.module))
		return false;
	*plus = '\0';
	if (!symbol.module && is_of_bpf(symbol.name))
		symbol.module = "[bpf]"; /* %pS omits it */
	*ret = symbol;
	return true;
}
