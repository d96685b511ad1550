/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/hotspot/hotspot_code.h"

#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "runtimes/hotspot/hotspot_blob.h"
#include "runtimes/hotspot/hotspot_method.h"
#include "runtimes/hotspot/hotspot_scopes.h"
#include "runtimes/hotspot/hotspot_stubs.h"

_Static_assert((int)HOTSPOT_STUB_NAME_MAX == (int)HOTSPOT_BLOB_NAME_MAX, "names differ in size");

static int set_names(struct runtime_code *code, const char *name, const char *source)
{
	code->name = strdup(name);
	code->source = strdup(source);
	return code->name && code->source ? 0 : -ENOMEM;
}

static int set_word(const struct process_memory *memory, struct runtime_identity *identity,
		    uint32_t i, uint64_t address, uint64_t mask)
{
	uint64_t word;
	int err = process_memory_word(memory, address, &word);

	if (err)
		return err;
	identity->word[i].address = address;
	identity->word[i].mask = mask;
	identity->word[i].value = word & mask;
	return 0;
}

/* If the blob has several stubs, set the code to the one at the address, or to what is between. */
static int narrow(const struct process_memory *memory, const struct hotspot_code_layout *layout,
		  uint64_t address, struct hotspot_blob *blob)
{
	struct hotspot_stub stub;
	int err;

	if (layout->call_stubs.table && !strcmp(blob->name, "vtable chunks"))
		err = hotspot_call_stub_find(memory, &layout->call_stubs, address, &stub);
	else if (layout->stubs)
		err = hotspot_stub_find(memory, layout->stubs, address, &stub);
	else
		return 0;
	if (err)
		return err;
	if (stub.start > blob->code_start)
		blob->code_start = stub.start;
	if (stub.end < blob->code_end)
		blob->code_end = stub.end;
	if (!*stub.name)
		return 0;
	memcpy(blob->name, stub.name, sizeof(stub.name));
	blob->is_permanent = true;
	return 0;
}

/*
 * The code of the virtual machine itself is told apart by its blob's name. Stubs of the lists are
 * never freed.
 */
static int describe_stub(const struct process_memory *memory,
			 const struct hotspot_code_layout *layout, uint64_t address,
			 struct hotspot_blob *blob, struct runtime_code *ret)
{
	int err = narrow(memory, layout, address, blob);

	ret->start = blob->code_start;
	ret->size_bytes = blob->code_end - blob->code_start;
	if (!err && !blob->is_permanent)
		err = set_word(memory, &ret->identity, 0, blob->start + layout->blob_name,
			       UINT64_MAX);
	return err ?: set_names(ret, blob->name, "");
}

/* Code with a name is worth more than no code: scopes that cannot be made are left out. */
static int describe_method(const struct process_memory *memory, const struct hotspot_layout *layout,
			   const struct hotspot_blob *blob, struct runtime_code *ret)
{
	CLEANUP(runtime_function_deinit) struct runtime_function function = {0};
	struct hotspot_compiled compiled;
	int err = hotspot_compiled_read(memory, &layout->code, blob, &compiled);

	ret->start = blob->code_start;
	ret->size_bytes = blob->code_end - blob->code_start;
	err = err
		      ?: set_word(memory, &ret->identity, 0, blob->start + layout->code.compile_id,
				  UINT32_MAX);
	err = err ?: hotspot_method_describe(memory, layout, compiled.method, &function);
	err = err ?: set_names(ret, function.name, function.file);
	if (err)
		return err;
	err = hotspot_scopes_make(memory, layout, blob, &compiled, RUNTIME_CODE_SCOPES_MAX,
				  &ret->scopes, &ret->scope_bytes);
	return err == -ENODATA || err == -EBADMSG || err == -EFAULT || err == -E2BIG ? 0 : err;
}

/* Read a blob, and then once more what tells it apart. */
static int describe(const struct process_memory *memory, const struct hotspot_layout *layout,
		    uint64_t address, struct runtime_code *ret)
{
	struct hotspot_block block, again;
	struct hotspot_blob blob;
	bool same;
	int err = hotspot_heap_find(memory, &layout->code, address, &block);

	err = err ?: hotspot_blob_read(memory, &layout->code, &block, &blob);
	if (err)
		return err;
	if (address < blob.code_start || address >= blob.code_end)
		return -ENOENT;
	err = blob.is_compiled ? describe_method(memory, layout, &blob, ret)
			       : describe_stub(memory, &layout->code, address, &blob, ret);
	/*
	 * If a block is freed, its end may get another blob while the beginning, with what tells
	 * the former one apart, stays as it was, but for its flag.
	 */
	if (!err && !blob.is_permanent)
		err = set_word(memory, &ret->identity, 1,
			       block.start - layout->code.block_size + layout->code.block_used,
			       UINT8_MAX);
	if (err)
		return err;
	process_memory_refresh(memory);
	err = hotspot_heap_find(memory, &layout->code, address, &again);
	err = err ?: runtime_identity_holds(&ret->identity, memory, &same);
	if (err)
		return err == -ENOENT ? -EAGAIN : err;
	return same && again.start == block.start && again.end == block.end ? 0 : -EAGAIN;
}

int hotspot_code_at(const struct process_memory *memory, const struct hotspot_layout *layout,
		    const struct runtime_native_range *interpreter, uint64_t address,
		    struct runtime_code *ret)
{
	CLEANUP(runtime_code_deinit) struct runtime_code code = {0};
	int err;

	if (address >= interpreter->start && address < interpreter->end) {
		code.start = interpreter->start;
		code.size_bytes = interpreter->end - interpreter->start;
		err = set_names(&code, "Interpreter", "");
	} else if (layout->code.form == HOTSPOT_CODE_UNKNOWN) {
		err = -ENOENT;
	} else {
		err = describe(memory, layout, address, &code);
	}
	if (err)
		return err;
	*ret = code;
	code = (struct runtime_code){0};
	return 0;
}
