/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of code to names of functions. The first byte chooses the source file. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engines/engines.h"
#include "symbolize/name/native_function.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/seeds.h"

SEEDS(17);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

/* A native name is never longer afterwards, and the name of a function is its own. */
static void check_native(const char *name, const char *file)
{
	char *function = strdup(name), *again;

	CHECK(function && native_to_function(function, file) < CODE_TIER_COUNT);
	CHECK(strlen(function) <= strlen(name) && !strncmp(function, name, strlen(function)));
	CHECK(*function || !*name);
	again = strdup(function);
	CHECK(again && native_to_function(again, file) == CODE_TIER_PLAIN);
	CHECK(!strcmp(again, function));
	native_unnumber(again);
	CHECK(strlen(again) <= strlen(function));
	free(again);
	free(function);
}

static void check_engine(const char *name)
{
	char *function = malloc(strlen(name) + ENGINE_FUNCTION_ROOM + 1);

	CHECK(function);
	strcpy(function, name);
	CHECK(engine_to_function(function) < CODE_TIER_COUNT);
	CHECK(strlen(function) <= strlen(name) + ENGINE_FUNCTION_ROOM && (*function || !*name));
	engine_unnumber(function);
	CHECK(strlen(function) <= strlen(name) + ENGINE_FUNCTION_ROOM);
	free(function);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	char *name;

	if (!size_bytes)
		return 0;
	name = strndup((const char *)data + 1, size_bytes - 1);
	CHECK(name);
	seed_taken();
	check_native(name, *data % 2 ? "a.go" : "");
	check_engine(name);
	free(name);
	return 0;
}
