/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A function instruction by instruction: the text of its machine code, the samples, and the frames
 * at each place. The samples of all instructions add up to those of the function. A function of a
 * runtime has its sampled source lines instead of instructions: `offset` is the line, and the one
 * frame has it. Machine code, debug info and names are untrusted.
 */
#ifndef JITBPF_SINK_ANNOTATE_ANNOTATION_H
#define JITBPF_SINK_ANNOTATE_ANNOTATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/string_pool.h"
#include "base/vec.h"
#include "decode/x86/disassembly.h"
#include "sink/annotate/function_samples.h"
#include "state/process/file_source.h"
#include "symbolize/symbolizer.h"

#define ANNOTATION_BYTES_MAX  (1u << 20) /* code of a function that is read, at most */
#define ANNOTATION_FRAMES_MAX (1u << 20) /* beyond it, instructions have no frames */

/* A function at an instruction. Strings are numbers in annotation.strings; 0: not known. */
struct annotated_frame {
	uint32_t name, file;
	uint32_t line; /* 0: not known */
};

struct annotated_instruction {
	uint64_t offset; /* in the function */
	uint64_t samples;
	uint64_t total;		     /* of a runtime's line: with those of what it calls */
	uint32_t text;		     /* number in annotation.strings; 0: the code is not known */
	uint32_t first, frame_count; /* in annotation.frames, innermost first; may be shared */
	uint8_t length;		     /* 0: the code is not known */
	/* Offset in the function that it jumps to, or calls; UINT64_MAX: none. */
	uint64_t target;
};

/* Why code is not known. */
enum annotation_lack {
	CODE_IS_KNOWN,
	CODE_IS_CUT,	    /* only the beginning is known */
	CODE_NOT_RECORDED,  /* JIT code, and the recording has no machine code */
	CODE_OF_KERNEL,	    /* kernel code is not read */
	CODE_FILE_MISSING,  /* the file cannot be opened or read; the errno is in `error` */
	CODE_FILE_CHANGED,  /* another file is at its path */
	CODE_FILE_NOT_READ, /* the file has no code at that offset: it is damaged */
	CODE_NOT_KEPT,	    /* JIT code that the live run has not kept */
	CODE_NOT_MADE,	    /* the process that reads code has failed */
};

struct annotation {
	const struct sampled_function *function; /* borrowed */
	uint64_t address;    /* of its start, as the file, the process or the kernel has it */
	uint64_t size_bytes; /* 0: not known */
	enum annotation_lack lack;
	int error;
	uint8_t *code;					/* NULL: not known */
	uint32_t code_bytes;				/* from the start of the function */
	VEC(struct annotated_instruction) instructions; /* by offset */
	uint64_t skipped; /* instructions that annotation_reduce() has removed */
	uint64_t unshown; /* samples of these instructions */
	VEC(struct annotated_frame) frames;
	struct string_pool *strings;
};

/* What an annotation is made of. Borrowed. */
struct annotation_sources {
	const struct view *view;
	const struct function_samples *samples;
	const struct file_source *files; /* NULL: code of files is not known */
	struct symbolizer *symbolizer;	 /* NULL: instructions without samples have no lines */
	enum disassembly_style style;
	const struct module *module; /* of a native function; NULL: the one that the view has */
	uint32_t max_bytes;	     /* of code; 0: ANNOTATION_BYTES_MAX */
};

/*
 * Annotate a function of sources->samples. Returns 0 or -ENOMEM; the caller calls
 * annotation_deinit() in both cases.
 */
int annotation_init(struct annotation *ret, const struct annotation_sources *sources,
		    const struct sampled_function *function);
void annotation_deinit(struct annotation *annotation); /* zero-initialized is allowed */

/*
 * Leave out instructions of a large function, those far from samples first, so that about max are
 * left. Returns 0 or -ENOMEM.
 */
int annotation_reduce(struct annotation *annotation, size_t max);

/*
 * Annotate a function of a runtime, of which `places` are the lines. Returns 0 or -ENOMEM; the
 * caller calls annotation_deinit() in both cases.
 */
int annotation_of_lines(struct annotation *ret, const struct sampled_function *function,
			const struct place_samples *places);

/*
 * Set the frames of JIT code's instructions from function->region. Any thread that holds the region
 * may call it. Returns 0 or -ENOMEM.
 */
int annotation_take_region(struct annotation *annotation, const struct view_options *options);

/*
 * For a function without known code: add an instruction for each sampled offset. Returns 0 or
 * -ENOMEM.
 */
int annotation_of_places(struct annotation *ret, const struct sampled_function *function,
			 const struct place_samples *places);

/* Returns the number of the instruction with most samples; the first one if all have none. */
size_t annotation_hottest(const struct annotation *annotation);

/* Returns frame `level` of an instruction (0: the innermost), or NULL. */
const struct annotated_frame *annotation_frame(const struct annotation *annotation,
					       const struct annotated_instruction *instruction,
					       uint32_t level);

/* A source line of the function, with the samples of its instructions. */
struct annotated_line {
	uint32_t file, line;
	uint64_t samples;
	uint64_t total; /* of a runtime: with those of what it calls; else 0 */
};

typedef VEC(struct annotated_line) annotated_lines;

/*
 * Add up the samples by innermost source line; instructions without a line count for line 0. *ret
 * is sorted by file and line, and owned by the caller. Returns 0 or -ENOMEM.
 */
int annotation_lines(const struct annotation *annotation, annotated_lines *ret);

#endif
