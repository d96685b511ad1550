/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of PHP in a memory that the test makes, for each layout. */
#include <string.h>

#include "base/scope.h"
#include "runtimes/php/php_function.h"
#include "runtimes/php/php_layout.h"
#include "tests/unit/cases.h"

#define BASE	    0x7f0000000000ull
#define BYTES	    (1u << 20)
#define OBJECT	    0x100
#define NAME	    0x200
#define FILE_	    0x1000
#define CLASS	    0x300
#define CLASS_NAME  0x400
#define OPS	    0x8000
#define ORIGINALS   0x500  /* pointers to the originals of closures */
#define CLOSURE	    0x600  /* of the method */
#define INNER	    0x700  /* of the closure */
#define BUCKETS	    0x2000 /* of the table of the class's methods */
#define LINE_OF(op) (10 + (op) / 2)

static const uint16_t versions[] = {704, 800, 801, 802, 803, 804, 805};

/* Memory at BASE, and what was read of it. */
struct made {
	uint8_t *bytes;
	uint64_t readable;
	uint32_t reads;
	uint64_t read_bytes;
};

static int read_made(void *context, uint64_t address, void *buf, size_t size_bytes)
{
	struct made *made = context;

	made->reads++;
	made->read_bytes += size_bytes;
	if (address < BASE || address - BASE > made->readable ||
	    size_bytes > made->readable - (address - BASE))
		return -EFAULT;
	memcpy(buf, made->bytes + (address - BASE), size_bytes);
	return 0;
}

static void put(struct made *made, uint64_t at, uint64_t word)
{
	memcpy(made->bytes + at, &word, sizeof(word));
}

static void put_half(struct made *made, uint64_t at, uint32_t half)
{
	memcpy(made->bytes + at, &half, sizeof(half));
}

static void put_string(struct made *made, uint64_t at, const void *text, size_t length)
{
	put(made, at + PHP_STRING_HASH, 0x8000000000000000ull + at);
	put(made, at + PHP_STRING_LENGTH, length);
	memcpy(made->bytes + at + PHP_STRING_BYTES, text, length);
}

static const struct php_layout *layout_of(uint16_t version)
{
	struct engine_version parts = {.part = {version / 100, version % 100}, .parts = 2};

	return php_layout_of(&parts);
}

/* Shop::total of /srv/shop.php, lines 10 to 14; two instructions a line. */
static void make_method(struct made *made, const struct php_layout *layout)
{
	memset(made->bytes, 0, BYTES);
	made->bytes[OBJECT] = PHP_FUNCTION_USER;
	put(made, OBJECT + PHP_FUNCTION_NAME, BASE + NAME);
	put_string(made, NAME, "total", 5);
	put(made, OBJECT + PHP_FUNCTION_SCOPE, BASE + CLASS);
	put(made, CLASS + PHP_CLASS_NAME, BASE + CLASS_NAME);
	put_string(made, CLASS_NAME, "Shop", 4);
	put(made, OBJECT + (uint64_t)layout->filename, BASE + FILE_);
	put_string(made, FILE_, "/srv/shop.php", 13);
	put_half(made, OBJECT + (uint64_t)layout->line_start, 10);
	put(made, OBJECT + (uint64_t)layout->opcodes, BASE + OPS);
	put_half(made, OBJECT + (uint64_t)layout->last, 10);
	for (uint32_t i = 0; i < 10; i++)
		put_half(made, OPS + i * PHP_OP_BYTES + PHP_OP_LINE, LINE_OF(i));
}

static void put_originals(struct made *made, const struct php_layout *layout, uint64_t maker,
			  uint64_t at, uint32_t count)
{
	if (layout->closure_count == RUNTIME_NO_OFFSET)
		return;
	put_half(made, maker + (uint64_t)layout->closure_count, count);
	put(made, maker + (uint64_t)layout->closure_count + 12, BASE + at);
}

/* The method makes a closure, and that one another; as originals, they have no class. */
static void make_closures(struct made *made, const struct php_layout *layout)
{
	static const uint64_t closures[] = {CLOSURE, INNER};

	make_method(made, layout);
	for (uint32_t i = 0; i < ARRAY_SIZE(closures); i++) {
		memcpy(made->bytes + closures[i], made->bytes + OBJECT, 0x100);
		put(made, closures[i] + PHP_FUNCTION_SCOPE, 0);
		put(made, closures[i] + PHP_FUNCTION_NAME, BASE + NAME + 0x40);
		put(made, closures[i] + (uint64_t)layout->opcodes, BASE + OPS + i * PHP_OP_BYTES);
		put_half(made, closures[i] + (uint64_t)layout->line_start, 11 + i);
		put(made, ORIGINALS + i * 8, BASE + closures[i]);
	}
	put_string(made, NAME + 0x40, "{closure}", 9);
	put_originals(made, layout, OBJECT, ORIGINALS, 1);
	put_originals(made, layout, CLOSURE, ORIGINALS + 8, 1);
}

static int read_made_function(struct made *made, const struct php_layout *layout,
			      struct runtime_function *ret)
{
	struct process_memory memory = {.read = read_made, .context = made};

	made->reads = 0;
	made->read_bytes = 0;
	return php_function_read(&memory, layout, BASE + OBJECT, ret);
}

static int set_up(void **state)
{
	struct made *made = calloc(1, sizeof(*made));

	assert_non_null(made);
	made->bytes = malloc(BYTES);
	assert_non_null(made->bytes);
	made->readable = BYTES;
	*state = made;
	return 0;
}

static int tear_down(void **state)
{
	struct made *made = *state;

	free(made->bytes);
	free(made);
	return 0;
}

/* The name that is read, which the caller frees; NULL after an error. */
static char *name_read(struct made *made, const struct php_layout *layout)
{
	struct runtime_function function = {0};
	char *name = NULL;

	if (!read_made_function(made, layout, &function))
		name = TAKE_PTR(function.name);
	runtime_function_deinit(&function);
	return name;
}

static void check_name(struct made *made, const struct php_layout *layout, const char *wanted)
{
	AUTO_FREE char *name = name_read(made, layout);

	assert_non_null(name);
	assert_string_equal(name, wanted);
}

static uint64_t check_read(struct made *made, const struct php_layout *layout)
{
	CLEANUP(runtime_function_deinit) struct runtime_function function = {0};

	assert_int_equal(read_made_function(made, layout, &function), 0);
	assert_int_equal(function.check & 1, 0);
	return function.check;
}

CASE_WITH(a_method_of_each_version, set_up, tear_down)
{
	struct made *made = *state;

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		CLEANUP(runtime_function_deinit) struct runtime_function function = {0};
		const struct php_layout *layout = layout_of(versions[i]);

		assert_non_null(layout);
		make_method(made, layout);
		assert_int_equal(read_made_function(made, layout, &function), 0);
		assert_string_equal(function.name, "Shop::total");
		assert_string_equal(function.file, "/srv/shop.php");
		assert_int_equal(function.first_line, 10);
		assert_int_equal(function.code, BASE + OPS);
		assert_int_equal(function.lines.size, 6);
		assert_int_equal(function.lines.data[5].line, 0); /* its end */
		for (uint32_t line = 0; line < 5; line++) {
			assert_int_equal(function.lines.data[line].position,
					 2 * line * PHP_OP_BYTES);
			assert_int_equal(function.lines.data[line].line, 10 + line);
		}
	}
	assert_null(layout_of(703));
	assert_null(layout_of(806));
	assert_null(php_layout_of(&(struct engine_version){.part = {8}, .parts = 1}));
}

CASE_WITH(names_are_as_php_writes_them, set_up, tear_down)
{
	const struct php_layout *layout = layout_of(802);
	static const char anonymous[] = "Shop@anonymous\0/srv/shop.php:3$0";
	struct made *made = *state;

	make_method(made, layout);
	put_string(made, CLASS_NAME, anonymous, sizeof(anonymous) - 1);
	check_name(made, layout, "Shop@anonymous::total");
	put(made, OBJECT + PHP_FUNCTION_SCOPE, 0);
	check_name(made, layout, "total");
	put_string(made, NAME, "App\\{closure}", 13);
	check_name(made, layout, "App\\{closure}");
	put(made, OBJECT + PHP_FUNCTION_NAME, 0);
	check_name(made, layout, "{main} shop.php");
	made->bytes[OBJECT] = PHP_FUNCTION_EVAL;
	check_name(made, layout, "eval()");
}

CASE_WITH(functions_of_c_have_no_place, set_up, tear_down)
{
	CLEANUP(runtime_function_deinit) struct runtime_function function = {0};
	const struct php_layout *layout = layout_of(804);
	struct made *made = *state;

	make_method(made, layout);
	made->bytes[OBJECT] = PHP_FUNCTION_INTERNAL;
	/* It is smaller than a function of PHP, and may be the last object of its page. */
	memmove(made->bytes + BYTES - 24, made->bytes + OBJECT, 24);
	{
		struct process_memory memory = {.read = read_made, .context = made};

		assert_int_equal(php_function_read(&memory, layout, BASE + BYTES - 24, &function),
				 0);
	}
	assert_string_equal(function.name, "Shop::total");
	assert_string_equal(function.file, "");
	assert_int_equal(function.first_line, 0);
	assert_int_equal(function.lines.size, 0);
	assert_int_not_equal(function.code, 0);
	put(made, OBJECT + PHP_FUNCTION_NAME, 0);
	check_name(made, layout, "{internal}");
	/* Such is the outermost one of a fiber. A check of 0 would be none. */
	put(made, OBJECT + PHP_FUNCTION_SCOPE, 0);
	{
		CLEANUP(runtime_function_deinit) struct runtime_function outermost = {0};
		struct process_memory memory = {.read = read_made, .context = made};

		assert_int_equal(php_function_read(&memory, layout, BASE + OBJECT, &outermost), 0);
		assert_string_equal(outermost.name, "{internal}");
		assert_int_not_equal(outermost.check, 0);
	}
}

CASE_WITH(names_are_utf8_and_bounded, set_up, tear_down)
{
	const struct php_layout *layout = layout_of(805);
	struct made *made = *state;
	char text[2000];
	AUTO_FREE char *name = NULL;

	make_method(made, layout);
	put(made, OBJECT + PHP_FUNCTION_SCOPE, 0);
	put_string(made, NAME, "a\xff\xc3z\xc3\xa9", 6);
	check_name(made, layout, "a??z\xc3\xa9");
	/* 2-byte characters: the limit cuts none in half. */
	text[0] = 'x';
	for (size_t i = 1; i + 1 < sizeof(text); i += 2)
		memcpy(text + i, "\xc3\xa9", 2);
	put_string(made, NAME, text, sizeof(text) - 1);
	name = name_read(made, layout);
	assert_non_null(name);
	assert_int_equal(strlen(name), RUNTIME_NAME_MAX - 1);
	assert_memory_equal(name, text, RUNTIME_NAME_MAX - 1);
	put(made, NAME + PHP_STRING_LENGTH, 1ull << 30);
	assert_null(name_read(made, layout));
	put(made, NAME + PHP_STRING_LENGTH, UINT64_MAX);
	assert_null(name_read(made, layout));
}

CASE_WITH(what_is_no_function_is_refused, set_up, tear_down)
{
	static const struct {
		uint64_t at, word;
		int err;
	} wrong[] = {
		{OBJECT, 0, -EBADMSG},
		{OBJECT, 3, -EBADMSG},
		{OBJECT, 5, -EBADMSG},
		{OBJECT + PHP_FUNCTION_NAME, 0x10, -EFAULT},
		{OBJECT + PHP_FUNCTION_SCOPE, 0x10, -EFAULT},
		{CLASS + PHP_CLASS_NAME, 0, -EBADMSG},
		{CLASS + PHP_CLASS_NAME, 0x10, -EFAULT},
		{OBJECT + 88, 0, -EBADMSG}, /* opcodes */
		{OBJECT + 88, BASE + 1, -EBADMSG},
		{OBJECT + 80, 0, -EBADMSG}, /* last */
		{OBJECT + 80, UINT32_MAX, -EBADMSG},
		{OBJECT + 152, 0, -EBADMSG}, /* filename */
		{OBJECT + 152, 0x10, -EFAULT},
	};
	const struct php_layout *layout = layout_of(802);
	struct made *made = *state;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct runtime_function function = {0};

		make_method(made, layout);
		put(made, wrong[i].at, wrong[i].word);
		assert_int_equal(read_made_function(made, layout, &function), wrong[i].err);
		assert_null(function.name); /* unchanged */
	}
}

/* A function with the most instructions, of which each has a line of its own. */
CASE_WITH(reads_are_bounded, set_up, tear_down)
{
	CLEANUP(runtime_function_deinit) struct runtime_function function = {0};
	const struct php_layout *layout = layout_of(803);
	struct made *made = *state;

	make_method(made, layout);
	put_half(made, OBJECT + (uint64_t)layout->last, 1u << 24);
	for (uint32_t i = 0; OPS + (i + 1) * PHP_OP_BYTES <= BYTES; i++)
		put_half(made, OPS + i * PHP_OP_BYTES + PHP_OP_LINE, i + 1);
	assert_int_equal(read_made_function(made, layout, &function), 0);
	assert_int_equal(function.lines.size, RUNTIME_LINES_MAX);
	assert_true(made->reads <= PHP_FUNCTION_READS_MAX);
	assert_true(made->read_bytes <= PHP_FUNCTION_BYTES_MAX);
	/* Instructions that cannot be read have no lines; the function is known all the same. */
	runtime_function_deinit(&function);
	made->readable = OPS;
	assert_int_equal(read_made_function(made, layout, &function), 0);
	assert_int_equal(function.lines.size, 0);
	assert_string_equal(function.name, "Shop::total");
}

/* The check tells functions apart that are at one address, one after the other. */
CASE_WITH(the_check_is_of_what_identifies_a_function, set_up, tear_down)
{
	struct made *made = *state;

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		const struct php_layout *layout = layout_of(versions[i]);
		const uint64_t words[] = {
			NAME + PHP_STRING_HASH,
			FILE_ + PHP_STRING_HASH,
			OBJECT + (uint64_t)layout->line_start,
		};
		uint64_t check;

		make_method(made, layout);
		check = check_read(made, layout);
		for (size_t w = 0; w < ARRAY_SIZE(words); w++) {
			make_method(made, layout);
			put(made, words[w], 0x1234);
			assert_int_not_equal(check_read(made, layout), check);
		}
		make_method(made, layout);
		put(made, OBJECT + (uint64_t)layout->opcodes, BASE + OPS + PHP_OP_BYTES);
		assert_int_not_equal(check_read(made, layout), check);
		make_method(made, layout);
		put(made, CLASS + PHP_CLASS_NAME, BASE + NAME);
		assert_int_not_equal(check_read(made, layout), check);
		/* What changes in the life of a function: its flags, and what a closure has. */
		make_method(made, layout);
		put_half(made, OBJECT + 4, 0x1234);
		put(made, OBJECT + 24, BASE);
		put(made, OBJECT + 56, BASE);
		assert_int_equal(check_read(made, layout), check);
	}
}

/* The recipe's check of a function of C does not reach beyond what that has. */
CASE_WITH(checks_of_functions_of_c_are_short, set_up, tear_down)
{
	const struct php_layout *layout = layout_of(802);
	struct made *made = *state;
	uint64_t check;

	make_method(made, layout);
	made->bytes[OBJECT] = PHP_FUNCTION_INTERNAL;
	check = check_read(made, layout);
	put(made, OBJECT + (uint64_t)layout->opcodes, 0);
	put(made, OBJECT + (uint64_t)layout->filename, 0);
	assert_int_equal(check_read(made, layout), check);
	put(made, NAME + PHP_STRING_HASH, 1);
	assert_int_not_equal(check_read(made, layout), check);
}

/* Reads a function and then, at its address, a copy of a closure that a method of the class made.
 */
static void check_copy(struct made *made, const struct php_layout *layout, uint64_t original,
		       const struct runtime_function *known)
{
	CLEANUP(runtime_function_deinit) struct runtime_function copy = {0};

	memcpy(made->bytes + OBJECT, made->bytes + original, 0x100);
	put(made, OBJECT + PHP_FUNCTION_SCOPE, BASE + CLASS);
	assert_int_equal(read_made_function(made, layout, &copy), 0);
	assert_int_equal(known->check, copy.check);
	assert_string_equal(known->name, copy.name);
	assert_string_equal(known->file, copy.file);
	assert_int_equal(known->first_line, copy.first_line);
	assert_int_equal(known->code, copy.code);
	assert_int_equal(known->lines.size, copy.lines.size);
}

CASE_WITH(closures_are_read_with_their_maker, set_up, tear_down)
{
	struct made *made = *state;

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		CLEANUP(runtime_function_deinit) struct runtime_function function = {0};
		const struct php_layout *layout = layout_of(versions[i]);

		make_closures(made, layout);
		assert_int_equal(read_made_function(made, layout, &function), 0);
		assert_string_equal(function.name, "Shop::total");
		assert_int_equal(function.copied.size, versions[i] < 801 ? 0 : 2);
		if (!function.copied.size)
			continue;
		assert_string_equal(function.copied.data[0].name, "Shop::{closure}");
		assert_int_equal(function.copied.data[1].first_line, 12);
		check_copy(made, layout, CLOSURE, &function.copied.data[0]);
		check_copy(made, layout, INNER, &function.copied.data[1]);
	}
}

/* The function makes closures of methods of its class: $this->method(...). */
static void make_methods(struct made *made, const struct php_layout *layout, uint32_t count)
{
	make_method(made, layout);
	memcpy(made->bytes + CLOSURE, made->bytes + OBJECT, 0x100);
	put(made, CLOSURE + PHP_FUNCTION_NAME, BASE + NAME + 0x40);
	put_string(made, NAME + 0x40, "price", 5);
	put_half(made, CLOSURE + (uint64_t)layout->line_start, 11);
	memset(made->bytes + INNER, 0, 0x100);
	made->bytes[INNER] = PHP_FUNCTION_INTERNAL;
	put(made, CLASS + PHP_CLASS_METHODS + PHP_TABLE_BUCKETS, BASE + BUCKETS);
	put_half(made, CLASS + PHP_CLASS_METHODS + PHP_TABLE_USED, count);
	for (uint32_t i = 0; i < 4; i++) {
		static const uint64_t methods[] = {OBJECT, INNER, CLOSURE, CLOSURE};

		put(made, BUCKETS + i * PHP_BUCKET_BYTES, BASE + methods[i]);
		made->bytes[BUCKETS + i * PHP_BUCKET_BYTES + PHP_BUCKET_TYPE] = i < 3 ? 13 : 0;
	}
	made->bytes[OPS + PHP_OP_CODE] = PHP_OP_CONVERT;
}

CASE_WITH(closures_of_methods_are_read_with_their_maker, set_up, tear_down)
{
	struct made *made = *state;

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		CLEANUP(runtime_function_deinit)
		struct runtime_function function = {0}, other = {0};
		const struct php_layout *layout = layout_of(versions[i]);

		make_methods(made, layout, 4);
		assert_int_equal(read_made_function(made, layout, &function), 0);
		assert_string_equal(function.name, "Shop::total");
		assert_int_equal(function.copied.size, versions[i] < 801 ? 0 : 1);
		if (!function.copied.size)
			continue;
		assert_string_equal(function.copied.data[0].name, "Shop::price");
		/* A function that makes none has no methods, and any number of them is bounded. */
		made->bytes[OPS + PHP_OP_CODE] = 0;
		assert_int_equal(read_made_function(made, layout, &other), 0);
		assert_int_equal(other.copied.size, 0);
		make_methods(made, layout, 4);
		check_copy(made, layout, CLOSURE, &function.copied.data[0]);
		for (uint32_t count = 1; count; count <<= 4) {
			CLEANUP(runtime_function_deinit) struct runtime_function hostile = {0};

			make_methods(made, layout, count);
			for (uint32_t j = 0; j < 0x200; j++)
				memcpy(made->bytes + BUCKETS + j * PHP_BUCKET_BYTES,
				       made->bytes + BUCKETS + 2 * PHP_BUCKET_BYTES,
				       PHP_BUCKET_BYTES);
			assert_int_equal(read_made_function(made, layout, &hostile), 0);
			assert_true(hostile.copied.size <= PHP_CLOSURES_MAX);
			assert_true(made->reads <= PHP_FUNCTION_READS_MAX);
			assert_true(made->read_bytes <= PHP_FUNCTION_BYTES_MAX);
		}
	}
}

/* Originals that are no functions of PHP are left out, and their number is bounded. */
CASE_WITH(closures_can_be_hostile, set_up, tear_down)
{
	static const struct {
		uint64_t original;
		size_t closures;
	} wrong[] = {{BASE + INNER, 1},
		     {0x10, 0},
		     {BASE + 0x20000, 0},
		     {BASE + OBJECT, PHP_CLOSURES_MAX}};
	const struct php_layout *layout = layout_of(804);
	struct made *made = *state;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		CLEANUP(runtime_function_deinit) struct runtime_function function = {0};

		make_closures(made, layout);
		put(made, ORIGINALS, wrong[i].original);
		assert_int_equal(read_made_function(made, layout, &function), 0);
		assert_int_equal(function.copied.size, wrong[i].closures);
		assert_true(made->reads <= PHP_FUNCTION_READS_MAX);
		assert_true(made->read_bytes <= PHP_FUNCTION_BYTES_MAX);
	}
	for (uint32_t count = 1; count; count <<= 4) {
		CLEANUP(runtime_function_deinit) struct runtime_function function = {0};

		make_closures(made, layout);
		put_half(made, OBJECT + (uint64_t)layout->last, 1u << 24);
		for (uint32_t j = 0; j < 0x200; j++)
			put(made, 0x90000 + j * 8, BASE + CLOSURE);
		put_originals(made, layout, OBJECT, 0x90000, count);
		assert_int_equal(read_made_function(made, layout, &function), 0);
		assert_true(function.copied.size <= PHP_CLOSURES_MAX);
		assert_true(made->reads <= PHP_FUNCTION_READS_MAX);
		assert_true(made->read_bytes <= PHP_FUNCTION_BYTES_MAX);
	}
}
