/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/kernel_symbols.h"

#include <stdbool.h>
#include <string.h>

#include "base/scope.h"
#include "base/vec.h"
#include "symbolize/symbol_map.h"

/*
 * The text is cut in place: behind a name stands a NUL, and behind that of a
 * module's symbol "[", the module's name and a NUL again. So the name alone
 * tells its module.
 */
struct kernel_symbols {
	char *text;
	struct symbol_map map;
	size_t count;
};

DEFINE_CLEANUP(struct kernel_symbols *, kernel_symbols_destroy);

typedef VEC(struct symbol_span) span_vec;

/* A line, its parts still in one piece: "ADDRESS TYPE NAME[\t[MODULE]]". */
struct kallsyms_line {
	uint64_t address;
	char type;
	char *name;
	char *name_end;
	char *module; /* at its "[", or NULL */
	char *module_end;
};

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static char *word_end(char *at, const char *end)
{
	while (at < end && *at != ' ' && *at != '\t' && *at != '\r' && *at != '\0')
		at++;
	return at;
}

static bool line_read(char *at, char *end, struct kallsyms_line *ret)
{
	struct kallsyms_line line = {0};
	char *begin = at;
	int digit;

	for (; at < end && (digit = hex_digit(*at)) >= 0; at++)
		line.address = line.address << 4 | (uint64_t)digit;
	if (at == begin || at - begin > 16 || end - at < 4 || at[0] != ' ' || at[2] != ' ')
		return false;
	line.type = at[1];
	line.name = at + 3;
	line.name_end = word_end(line.name, end);
	if (line.name_end == line.name)
		return false;
	at = line.name_end;
	if (end - at > 2 && *at == '\t' && at[1] == '[') {
		line.module = at + 1;
		line.module_end = word_end(line.module, end);
		if (line.module_end[-1] != ']')
			return false;
		line.module_end--;
	}
	*ret = line;
	return true;
}

/* Functions are text, global or local, or weak. The markers of the text's end are not. */
static bool line_is_function(const struct kallsyms_line *line)
{
	size_t size_bytes = (size_t)(line->name_end - line->name);

	if (!strchr("tTwW", line->type))
		return false;
	return !(size_bytes == strlen("_etext") && !memcmp(line->name, "_etext", size_bytes)) &&
	       !(size_bytes == strlen("_einittext") &&
		 !memcmp(line->name, "_einittext", size_bytes));
}

static uint8_t scope_of_type(char type)
{
	if (type == 'T')
		return SYMBOL_GLOBAL;
	return type == 't' ? SYMBOL_LOCAL : SYMBOL_WEAK;
}

static int line_add(struct kernel_symbols *symbols, const struct kallsyms_line *line,
		    span_vec *spans)
{
	struct symbol_span span = {.start = line->address, .end = line->address, .name = ""};

	/* Hidden by kptr_restrict; or, with the per-CPU symbols, no address at all. */
	if (!(line->address >> 63))
		return 0;
	if (line_is_function(line)) {
		*line->name_end = '\0';
		if (line->module)
			*line->module_end = '\0';
		span.name = line->name;
		span.scope = scope_of_type(line->type);
		span.end = line->address <= UINT64_MAX - KERNEL_SYMBOL_BYTES_MAX
				   ? line->address + KERNEL_SYMBOL_BYTES_MAX
				   : UINT64_MAX;
		symbols->count++;
	}
	return vec_push(spans, span);
}

static int text_read(struct kernel_symbols *symbols, size_t size_bytes, span_vec *spans)
{
	char *at = symbols->text, *end = at + size_bytes, *line_end;
	struct kallsyms_line line;

	for (; at < end; at = line_end + 1) {
		line_end = memchr(at, '\n', (size_t)(end - at));
		if (!line_end)
			line_end = end;
		if (line_read(at, line_end, &line) && line_add(symbols, &line, spans))
			return -ENOMEM;
	}
	return 0;
}

static void span_vec_deinit(span_vec *spans)
{
	vec_deinit(spans);
}

int kernel_symbols_parse(char *text, size_t size_bytes, struct kernel_symbols **ret)
{
	CLEANUP(kernel_symbols_destroyp)
	struct kernel_symbols *symbols = calloc(1, sizeof(*symbols));
	CLEANUP(span_vec_deinit) span_vec spans = {0};
	char *grown;
	int err;

	/* Room for the NUL behind a last line without a newline, and for what a look at it sees. */
	grown = realloc(text, size_bytes + 2);
	if (!symbols || !grown) {
		free(grown ? grown : text);
		return -ENOMEM;
	}
	memset(grown + size_bytes, 0, 2);
	symbols->text = grown;
	err = text_read(symbols, size_bytes, &spans);
	if (!err)
		err = symbol_map_init(&symbols->map, spans.data, spans.size);
	if (err)
		return -ENOMEM;
	*ret = TAKE_PTR(symbols);
	return 0;
}

void kernel_symbols_destroy(struct kernel_symbols *symbols)
{
	if (!symbols)
		return;
	symbol_map_deinit(&symbols->map);
	free(symbols->text);
	free(symbols);
}

size_t kernel_symbols_count(const struct kernel_symbols *symbols)
{
	return symbols->count;
}

const char *kernel_symbols_find(const struct kernel_symbols *symbols, uint64_t address,
				const char **ret_module, uint64_t *ret_offset)
{
	const char *name = symbol_map_find(&symbols->map, address, ret_offset);
	const char *behind;

	if (!name)
		return NULL;
	behind = name + strlen(name) + 1;
	*ret_module = *behind == '[' ? behind + 1 : "";
	return name;
}
