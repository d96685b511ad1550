/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/named_functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/intern.h"
#include "base/path.h"
#include "base/scope.h"
#include "engines/engines.h"
#include "symbolize/frame_table.h"
#include "symbolize/name/native_function.h"

static bool equal(const void *items, uint32_t item, const void *key)
{
	return !memcmp((const struct named_function *)items + item, key,
		       sizeof(struct named_function));
}

_Static_assert(sizeof(struct named_function) == 16, "no padding, since it is compared by bytes");

/* Returns true if code is of a runtime, which names functions and not their code. */
static bool is_of_runtime(const struct named_code *code)
{
	return frame_kind_info(code->kind)->runtime;
}

/* Returns true if the name of code may be another one than that of its function. */
static bool is_reducible(const struct named_code *code, const char *name)
{
	if (is_of_runtime(code))
		return false;
	/* All endings of native names have a dot; most names have none. */
	return frame_kind_info(code->kind)->of_engine || strchr(name, '.');
}

/* Set *ret to the name of the function of code with a name. */
static int reduce(struct string_pool *strings, const struct named_code *code, uint32_t *ret,
		  enum code_tier *ret_tier)
{
	const char *whole = string_pool_get(strings, code->name);
	AUTO_FREE char *name = NULL;
	int err = 0;

	*ret = code->name;
	if (!is_reducible(code, whole))
		return 0;
	name = malloc(strlen(whole) + ENGINE_FUNCTION_ROOM + 1);
	if (!name)
		return -ENOMEM;
	strcpy(name, whole);
	*ret_tier = frame_kind_info(code->kind)->of_engine
			    ? engine_to_function(name)
			    : native_to_function(name, string_pool_get(strings, code->file));
	if (strcmp(name, whole) != 0)
		err = string_pool_add(strings, name, strlen(name), ret);
	return err == -EDQUOT ? 0 : err;
}

/* Returns the source file that tells a function apart; 0: none, or its name does. */
static uint32_t file_of(const struct string_pool *strings, const struct named_code *code)
{
	const char *file = path_file(string_pool_get(strings, code->file));

	if (is_of_runtime(code))
		return code->file;
	if (code->kind == FRAME_KIND_NATIVE)
		return code->decl_file;
	return frame_kind_info(code->kind)->of_engine && *file &&
			       !strstr(string_pool_get(strings, code->name), file)
		       ? code->file
		       : 0;
}

int named_functions_add(struct named_functions *table, struct string_pool *strings,
			const struct named_code *code, uint32_t *ret, enum code_tier *ret_tier)
{
	struct named_function key = {
		.name = code->stand_in,
		.module = code->module,
		.file = code->name ? file_of(strings, code) : 0,
		.kind = code->kind,
		.named = code->name != 0,
	};
	enum code_tier tier = CODE_TIER_PLAIN;
	int err;

	if (frame_kind_info(code->kind)->of_engine && !is_of_runtime(code))
		key.kind = FRAME_KIND_JIT;
	err = code->name ? reduce(strings, code, &key.name, &tier) : 0;

	if (err)
		return err;
	*ret = NAMED_FUNCTION_NONE;
	err = vec_intern_in(&table->room, NAMED_FUNCTION_BYTES, &table->functions, &table->index,
			    hash_bytes(&key, sizeof(key), 0), equal, &key, ret);
	if (err < 0 && err != -EDQUOT)
		return err;
	*ret_tier = tier;
	return 0;
}

void named_functions_deinit(struct named_functions *table)
{
	vec_deinit(&table->functions);
	index_map_deinit(&table->index);
}
