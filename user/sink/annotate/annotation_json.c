/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/scope.h"
#include "sink/annotate/annotation_output.h"
#include "sink/write/json.h"
#include "sink/write/out.h"

#define CODE_TEXT_BYTES (2 * 15 + 1) /* of an instruction */

static const char *const lacks[] = {
	[CODE_IS_KNOWN] = "known",
	[CODE_IS_CUT] = "cut",
	[CODE_NOT_RECORDED] = "not recorded",
	[CODE_OF_KERNEL] = "kernel",
	[CODE_FILE_MISSING] = "file missing",
	[CODE_FILE_CHANGED] = "file changed",
	[CODE_FILE_NOT_READ] = "file damaged",
	[CODE_NOT_KEPT] = "not kept",
	[CODE_NOT_MADE] = "not made",
};

static void write_generations(struct json *json, const struct annotation_output *options)
{
	json_key(json, "generations");
	json_begin(json, '[');
	for (size_t i = 0; i < options->generation_count; i++) {
		const struct generation *generation = &options->generations[i];
		const struct sampled_function *function = generation->function;

		json_begin(json, '{');
		json_member_number(json, "number", i + 1);
		json_member_string(json, "name", function->name);
		if (*code_tier_word(function->tier))
			json_member_string(json, "tier", code_tier_word(function->tier));
		json_member_number(json, "samples", function->samples);
		if (function->region) {
			json_member_number(json, "address", function->region->address);
			json_member_number(json, "bytes", function->region->size_bytes);
		} else if (function->kind != LOCATION_RUNTIME) {
			json_member_number(json, "address", function->start);
		}
		if (generation->loaded_ns)
			json_member_number(json, "loaded_ns", generation->loaded_ns);
		if (generation->ended_ns && generation->ended_ns != UINT64_MAX)
			json_member_number(json, "ended_ns", generation->ended_ns);
		json_end(json, '}');
	}
	json_end(json, ']');
}

static void write_frames(struct json *json, const struct annotation *annotation,
			 const struct annotated_instruction *instruction)
{
	json_key(json, "frames");
	json_begin(json, '[');
	for (uint32_t i = 0; i < instruction->frame_count; i++) {
		const struct annotated_frame *frame = annotation_frame(annotation, instruction, i);

		json_begin(json, '{');
		json_member_string(json, "name", string_pool_get(annotation->strings, frame->name));
		if (frame->file)
			json_member_string(json, "file",
					   string_pool_get(annotation->strings, frame->file));
		if (frame->line)
			json_member_number(json, "line", frame->line);
		json_end(json, '}');
	}
	json_end(json, ']');
}

static void write_code(struct json *json, const struct annotation *annotation,
		       const struct annotated_instruction *instruction)
{
	char text[CODE_TEXT_BYTES] = "";

	if (!instruction->length)
		return;
	for (uint32_t i = 0; i < instruction->length && i < 15; i++)
		snprintf(text + 2 * i, 3, "%02x", annotation->code[instruction->offset + i]);
	json_member_string(json, "code", text);
	json_member_string(json, "text", string_pool_get(annotation->strings, instruction->text));
}

static void write_instructions(struct json *json, const struct annotation *annotation)
{
	json_key(json, "instructions");
	json_begin(json, '[');
	vec_for_each (instruction, &annotation->instructions) {
		json_begin(json, '{');
		json_member_number(json, "offset", instruction->offset);
		json_member_number(json, "samples", instruction->samples);
		write_code(json, annotation, instruction);
		if (instruction->target != UINT64_MAX)
			json_member_number(json, "target", instruction->target);
		write_frames(json, annotation, instruction);
		json_end(json, '}');
	}
	json_end(json, ']');
}

static int write_lines(struct json *json, const struct annotation *annotation)
{
	annotated_lines lines = {0};
	int err = annotation_lines(annotation, &lines);

	json_key(json, "lines");
	json_begin(json, '[');
	vec_for_each (line, &lines) {
		json_begin(json, '{');
		if (line->line) {
			json_member_string(json, "file",
					   string_pool_get(annotation->strings, line->file));
			json_member_number(json, "line", line->line);
		}
		json_member_number(json, "samples", line->samples);
		if (annotation->function->kind == LOCATION_RUNTIME)
			json_member_number(json, "total", line->total);
		json_end(json, '}');
	}
	json_end(json, ']');
	vec_deinit(&lines);
	return err;
}

void annotation_json_begin(struct json *json, const struct annotation_output *options)
{
	const struct sampled_function *function = options->generations[options->shown].function;

	json_begin(json, '{');
	json_member_number(json, "version", 2);
	json_member_string(json, "name", function->function);
	json_member_string(json, "module", function->module);
	if (*function->function_file)
		json_member_string(json, "file", function->function_file);
	json_member_number(json, "samples_of_recording", options->total);
	write_generations(json, options);
	json_key(json, "pieces");
	json_begin(json, '[');
}

int annotation_json_piece(struct json *json, const struct annotation *annotation,
			  const struct annotation_output *options)
{
	const struct sampled_function *function = annotation->function;
	bool is_runtime = function->kind == LOCATION_RUNTIME;
	int err;

	json_begin(json, '{');
	json_member_number(json, "number", options->shown + 1);
	json_member_string(json, "name", function->name);
	json_member_number(json, "samples", function->samples);
	if (is_runtime) {
		json_member_number(json, "total", function->total);
	} else {
		json_member_number(json, "address", annotation->address);
		json_member_number(json, "bytes", annotation->size_bytes);
		json_member_string(json, "code", lacks[annotation->lack]);
	}
	err = write_lines(json, annotation);
	if (!is_runtime)
		write_instructions(json, annotation);
	json_end(json, '}');
	return err;
}

int annotation_json_end(struct json *json, FILE *out)
{
	json_end(json, ']');
	json_end(json, '}');
	return out_flush(out);
}
