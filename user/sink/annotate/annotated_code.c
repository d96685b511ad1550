/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/annotate/annotated_code.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "decode/elf/elf_file.h"

/* Without a symbol in the file, code is shown up to here behind the last sample. */
#define REST_BYTES 32

const struct module *annotated_module(const struct annotation_sources *sources,
				      const struct sampled_function *function)
{
	return sources->module
		       ?: module_table_get(sources->view->modules, (uint32_t)function->owner);
}

static void find_range(struct annotation *annotation, const struct annotation_sources *sources,
		       const struct module *module)
{
	const struct sampled_function *function = annotation->function;
	struct function_range range;

	if (sources->symbolizer &&
	    !symbolizer_range(sources->symbolizer, module, function->start, &range) &&
	    range.offset == function->start) {
		annotation->address = range.address;
		annotation->size_bytes = range.size_bytes == UINT64_MAX ? 0 : range.size_bytes;
	}
}

static int read_blob(struct annotation *annotation, const struct blob *blob, uint64_t wanted,
		     uint32_t max_bytes)
{
	uint64_t offset = annotation->function->start;
	uint64_t left = offset < blob->size_bytes ? blob->size_bytes - offset : 0;
	uint64_t size_bytes = wanted < left ? wanted : left;
	AUTO_FREE uint8_t *bytes = NULL;

	if (size_bytes > (max_bytes ?: ANNOTATION_BYTES_MAX))
		size_bytes = max_bytes ?: ANNOTATION_BYTES_MAX;
	if (!size_bytes) {
		annotation->lack = CODE_FILE_NOT_READ;
		return 0;
	}
	bytes = malloc(size_bytes);
	if (!bytes)
		return -ENOMEM;
	annotation->error = blob_read(blob, offset, bytes, size_bytes);
	if (annotation->error) {
		annotation->lack = CODE_FILE_MISSING;
		return 0;
	}
	annotation->code = TAKE_PTR(bytes);
	annotation->code_bytes = (uint32_t)size_bytes;
	annotation->lack = size_bytes < wanted ? CODE_IS_CUT : CODE_IS_KNOWN;
	return 0;
}

/* Set the address of the function in the file, unless a symbol has set it. */
static void find_address(struct annotation *annotation, const struct blob *blob)
{
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};

	if (annotation->address || elf_file_init(&elf, blob))
		return;
	elf_file_address(&elf, annotation->function->start, &annotation->address);
}

/* 32-bit code would be disassembled as other instructions. */
static bool is_32_bit(const struct blob *blob)
{
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};

	return !elf_file_init_any(&elf, blob) && elf.machine != EM_X86_64;
}

static int read_file(struct annotation *annotation, const struct annotation_sources *sources,
		     uint64_t last_offset)
{
	const struct module *module = annotated_module(sources, annotation->function);
	struct blob blob = {0};
	int err = -ENOENT;

	annotation->address = 0;
	if (module)
		find_range(annotation, sources, module);
	if (module && sources->files)
		err = sources->files->open_module(sources->files->context, module, &blob);
	if (!err && is_32_bit(&blob)) {
		blob_close(&blob);
		err = -ENOEXEC;
	}
	if (err == -ENOMEM)
		return err;
	if (err) {
		annotation->error = err;
		annotation->lack = err == -ESTALE ? CODE_FILE_CHANGED : CODE_FILE_MISSING;
		return 0;
	}
	find_address(annotation, &blob);
	err = read_blob(annotation, &blob,
			annotation->size_bytes > last_offset ? annotation->size_bytes
							     : last_offset + REST_BYTES,
			sources->max_bytes);
	blob_close(&blob);
	return err;
}

static int copy_recorded(struct annotation *annotation, const struct annotation_sources *sources)
{
	const struct recorded_region *recorded = NULL;

	if (sources->view->code)
		recorded = recorded_code_find(sources->view->code, annotation->function->owner);
	annotation->address = annotation->function->region->address;
	annotation->size_bytes = annotation->function->region->size_bytes;
	annotation->lack = CODE_NOT_RECORDED;
	if (!recorded)
		return 0;
	annotation->code = malloc(recorded->size_bytes ?: 1);
	if (!annotation->code)
		return -ENOMEM;
	memcpy(annotation->code, recorded->bytes, recorded->size_bytes);
	annotation->code_bytes = recorded->size_bytes;
	annotation->lack =
		recorded->size_bytes < annotation->size_bytes ? CODE_IS_CUT : CODE_IS_KNOWN;
	return 0;
}

int annotated_code_read(struct annotation *annotation, const struct annotation_sources *sources,
			uint64_t last_offset)
{
	const struct sampled_function *function = annotation->function;

	switch (function->kind) {
	case LOCATION_NATIVE:
		return read_file(annotation, sources, last_offset);
	case LOCATION_JIT:
		return copy_recorded(annotation, sources);
	default:
		annotation->address = function->start;
		annotation->lack = CODE_OF_KERNEL;
		return 0;
	}
}
