/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/runtime_reader.h"

#include "base/scope.h"
#include "runtimes/cpython/cpython.h"
#include "runtimes/hotspot/hotspot_reader.h"
#include "runtimes/php/php_reader.h"
#include "runtimes/perl/perl_reader.h"
#include "runtimes/ruby/ruby_reader.h"
#include "runtimes/runtime_readers.h"
#include "runtimes/v8/v8_reader.h"
#include "tests/unit/cases.h"

static struct runtime_line lines[] = {{8, 11}, {16, 12}, {32, 0}};

static struct runtime_function function_at(uint64_t code, size_t line_count)
{
	struct runtime_function ret = {.first_line = 10, .code = code};

	ret.lines.data = lines;
	ret.lines.size = line_count;
	return ret;
}

CASE(lines_of_addresses)
{
	struct runtime_function function = function_at(0x7000, ARRAY_SIZE(lines));

	assert_int_equal(runtime_function_line(&function, 0x7000), 10);
	assert_int_equal(runtime_function_line(&function, 0x6ffe), 10); /* not begun */
	assert_int_equal(runtime_function_line(&function, 0x7008), 11);
	assert_int_equal(runtime_function_line(&function, 0x701f), 12);
	assert_int_equal(runtime_function_line(&function, 0x7020), 0);
	assert_int_equal(runtime_function_line(&function, 0x6000), 0);
	assert_int_equal(runtime_function_line(&function, 0x7008 + (1ull << 32)), 0);
	assert_int_equal(runtime_function_line(&function, UINT64_MAX), 0);
	assert_int_equal(runtime_function_line(&function, 0), 0); /* not known */
}

CASE(lines_of_offsets)
{
	struct runtime_function function = function_at(0, ARRAY_SIZE(lines));

	assert_int_equal(runtime_function_line(&function, 0), 10);
	assert_int_equal(runtime_function_line(&function, UINT32_MAX), 10); /* -1: not begun */
	assert_int_equal(runtime_function_line(&function, 16), 12);
	assert_int_equal(runtime_function_line(&function, 0x80000000), 0);
}

CASE(positions_that_are_lines)
{
	struct runtime_function function = function_at(0, 0);

	assert_int_equal(runtime_function_line(&function, 0), 0);
	assert_int_equal(runtime_function_line(&function, 77), 77);
}

CASE(readers_of_engines)
{
	assert_ptr_equal(runtime_reader_of(&engine_cpython), &cpython_reader);
	assert_ptr_equal(runtime_reader_of(&engine_php), &php_reader);
	assert_ptr_equal(runtime_reader_of(&engine_ruby), &ruby_reader);
	assert_ptr_equal(runtime_reader_of(&engine_perl), &perl_reader);
	assert_ptr_equal(runtime_reader_of(&engine_v8), &v8_reader);
	assert_null(runtime_reader_of(&engine_luajit));
	assert_null(runtime_reader_of(NULL));
	assert_ptr_equal(runtime_reader_of(&engine_java), &hotspot_reader);
}
