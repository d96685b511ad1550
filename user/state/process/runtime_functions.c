/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/process/runtime_functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/scope.h"

static size_t bytes_of(size_t name_bytes, size_t file_bytes)
{
	return sizeof(struct known_function) + name_bytes + file_bytes;
}

static void function_free(struct space_value *value)
{
	struct known_function *function = (struct known_function *)value;

	code_account_release(function->account,
			     bytes_of(strlen(function->name) + 1, strlen(function->file) + 1));
	code_account_put(function->account);
	free(function);
}

static bool equal(const void *functions_, uint32_t item, const void *number)
{
	struct known_function *const *functions = functions_;

	return functions[item]->number == *(const uint64_t *)number;
}

static uint64_t hash_of(uint64_t number)
{
	return hash_mix(number, 0);
}

struct known_function *runtime_functions_find(const struct runtime_functions *functions,
					      uint64_t number)
{
	uint32_t at = index_map_find(&functions->index, hash_of(number), equal,
				     functions->functions.data, &number);

	return at == INDEX_MAP_NONE ? NULL : functions->functions.data[at];
}

static int create(const struct jitbpf_runtime_function *record, struct code_account *account,
		  struct known_function **ret)
{
	size_t bytes = bytes_of(record->name_bytes, record->file_bytes);
	struct known_function *function;
	int err = code_account_charge(account, bytes);

	if (err)
		return err;
	function = malloc(bytes);
	if (!function) {
		code_account_release(account, bytes);
		return -ENOMEM;
	}
	*function = (struct known_function){
		.value = {.refs = 1, .free = function_free},
		.number = record->number,
		.engine = engine_by_name(record->runtime),
		.account = code_account_get(account),
		.first_line = record->first_line,
		.file = function->name + record->name_bytes,
	};
	memcpy(function->runtime, record->runtime, sizeof(function->runtime));
	memcpy(function->name, record->strings, record->name_bytes + record->file_bytes);
	*ret = function;
	return 0;
}

int runtime_functions_add(struct runtime_functions *functions,
			  const struct jitbpf_runtime_function *record,
			  struct code_account *account)
{
	uint32_t number = (uint32_t)functions->functions.size;
	struct known_function *function;
	int err;

	if (runtime_functions_find(functions, record->number))
		return -EEXIST;
	if (vec_reserve(&functions->functions, number + 1ull))
		return -ENOMEM;
	err = create(record, account, &function);
	if (err)
		return err;
	if (index_map_insert(&functions->index, hash_of(record->number), number)) {
		space_value_put(&function->value);
		return -ENOMEM;
	}
	return vec_push(&functions->functions, function);
}

bool runtime_function_is(const struct known_function *function,
			 const struct jitbpf_runtime_function *record)
{
	return function->first_line == record->first_line &&
	       !strcmp(function->runtime, record->runtime) &&
	       !strcmp(function->name, record->strings) &&
	       !strcmp(function->file, record->strings + record->name_bytes);
}

size_t runtime_function_record_bytes(const struct known_function *function)
{
	return sizeof(struct jitbpf_runtime_function) + strlen(function->name) + 1 +
	       strlen(function->file) + 1;
}

void runtime_function_encode(const struct known_function *function,
			     struct jitbpf_runtime_function *ret)
{
	ret->number = function->number;
	ret->first_line = function->first_line;
	ret->name_bytes = (uint32_t)strlen(function->name) + 1;
	ret->file_bytes = (uint32_t)strlen(function->file) + 1;
	memcpy(ret->runtime, function->runtime, sizeof(ret->runtime));
	memcpy(ret->strings, function->name, ret->name_bytes + ret->file_bytes);
}

void runtime_functions_deinit(struct runtime_functions *functions)
{
	vec_for_each (function, &functions->functions)
		space_value_put(&(*function)->value);
	vec_deinit(&functions->functions);
	index_map_deinit(&functions->index);
}
