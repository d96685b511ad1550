/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gap_rows [-v] [-u PERCENT] FILE...: makes rows of all code of a file from its instructions, as if
 * it had no call frame information, and compares them with that information, in all functions that
 * it describes. Instructions are weighted by their bytes; padding is excluded. Fails if the
 * differences exceed a limit. Call frame information that is itself wrong, as of the assembly in
 * libc, is within the limits. Unknown is mostly what only exceptions reach, and the cold parts of
 * functions far away. -u: how much may be unknown, 10 % without it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/files/helper/file_blob.h"
#include "base/scope.h"
#include "decode/cfi/fde_table.h"
#include "decode/cfi/unwind_file.h"
#include "decode/x86/gaps/code_gaps.h"
#include "decode/x86/code_step.h"

#define COMPARED_BYTES_MIN 1000
#define WRONG_PERCENT	   0.05
/* In small files: a function of clang that ends with a call, at the end of its section. */
#define WRONG_BYTES	16
#define UNKNOWN_PERCENT 10

struct comparison {
	struct blob blob;
	struct elf_file elf;
	struct unwind_file *file;
	struct code_gaps *gaps;
	struct section_budget budget;
	struct fde_table functions;
	struct code_decoder decoder;
	struct frame_states frames;
	/* of the page at `page`: by call frame information, and by instructions */
	struct unwind_rows said, made;
	uint64_t page;
	uint64_t function_count, bytes, same, unknown, wrong;
	bool is_verbose;
};

static int comparison_init(struct comparison *c, const char *path)
{
	int err = file_blob_open_path(&c->blob, path);

	c->page = UINT64_MAX;
	c->budget = (struct section_budget){UINT64_MAX / 2, UINT64_MAX / 2, false};
	err = err ?: elf_file_init(&c->elf, &c->blob);
	err = err ?: unwind_file_create(&c->blob, &c->file);
	err = err ?: code_gaps_create(&c->blob, &c->gaps);
	err = err ?: fde_table_init_eh(&c->functions, &c->elf, 0, UINT64_MAX, &c->budget);
	if (err == -ENOENT)
		err = fde_table_init_debug(&c->functions, &c->elf, 0, UINT32_MAX, &c->budget);
	err = err ?: code_decoder_init(&c->decoder);
	return err ?: frame_states_init(&c->frames);
}

static void comparison_deinit(struct comparison *c)
{
	frame_states_deinit(&c->frames);
	unwind_rows_deinit(&c->said);
	unwind_rows_deinit(&c->made);
	fde_table_deinit(&c->functions);
	unwind_file_destroy(c->file);
	code_gaps_destroy(c->gaps);
	elf_file_deinit(&c->elf);
	blob_close(&c->blob);
}

/* Make the rows of a page of a segment from its instructions. */
static int make_rows(struct comparison *c, const struct elf_segment *segment, uint64_t page_start)
{
	struct unwind_gap_source source = code_gaps_source(c->gaps);
	uint64_t end = segment->file_offset + segment->file_bytes;
	uint64_t start = page_start > segment->file_offset ? page_start : segment->file_offset;
	struct frame_window window = {.rows = &c->made, .offset = (uint32_t)(start - page_start)};
	struct unwind_gap gap = {&window, segment->address, segment->address + segment->file_bytes};
	uint64_t work_bytes = UINT64_MAX;

	if (end > page_start + UNWIND_PAGE_BYTES)
		end = page_start + UNWIND_PAGE_BYTES;
	window.start = segment->address + (start - segment->file_offset);
	window.end = window.start + (end - start);
	return source.add(source.context, &gap, &work_bytes);
}

/* Make both kinds of rows of the page with an offset. */
static int page_make(struct comparison *c, uint64_t offset)
{
	uint64_t page = offset >> UNWIND_PAGE_SHIFT;
	int err;

	if (page == c->page)
		return 0;
	c->page = page;
	c->said.rows.size = c->made.rows.size = 0;
	err = unwind_file_page(c->file, (uint32_t)page, &c->said);
	vec_for_each (segment, &c->elf.segments) {
		if (!err && segment->executable &&
		    offset - segment->file_offset < segment->file_bytes)
			err = make_rows(c, segment, page << UNWIND_PAGE_SHIFT);
	}
	return err;
}

/* A function that cannot return has another rule for the same frame. */
static int32_t frame_of(int32_t cfa)
{
	switch (cfa & UNWIND_RULE_MASK) {
	case UNWIND_CFA_RSP_FINAL:
		return cfa - UNWIND_CFA_RSP_FINAL + UNWIND_CFA_RSP;
	case UNWIND_CFA_RBP_FINAL:
		return cfa - UNWIND_CFA_RBP_FINAL + UNWIND_CFA_RBP;
	default:
		return cfa;
	}
}

/* Rows agree if they differ only in rbp that is in its register and in its slot. */
static bool agree(struct unwind_row a, struct unwind_row b)
{
	return frame_of(a.cfa) == frame_of(b.cfa) &&
	       (a.rbp == b.rbp || a.rbp == UNWIND_RBP_KEPT || b.rbp == UNWIND_RBP_KEPT);
}

/* Compare where a row can be expressed. A guess of the maker counts as wrong. */
static void judge(struct comparison *c, uint32_t bytes, uint64_t address, uint64_t offset)
{
	struct unwind_row said = unwind_rows_at(&c->said, offset & (UNWIND_PAGE_BYTES - 1));
	struct unwind_row made = unwind_rows_at(&c->made, offset & (UNWIND_PAGE_BYTES - 1));

	if ((said.cfa & UNWIND_RULE_MASK) == UNWIND_COMMAND)
		return;
	c->bytes += bytes;
	if (agree(said, made)) {
		c->same += bytes;
		return;
	}
	if (made.cfa == UNWIND_CFA_COMMAND(UNWIND_UNKNOWN))
		c->unknown += bytes;
	else
		c->wrong += bytes;
	if (c->is_verbose)
		printf("%" PRIx64 ": cfa %#x rbp %d, said to be %#x %d\n", address, made.cfa,
		       made.rbp, said.cfa, said.rbp);
}

/*
 * Returns true if the call frame information of a function does not know of the frame that the
 * function makes first, as that of some assembly of OpenSSL 3.5.
 */
static bool is_said_wrong(struct comparison *c, const uint8_t *code, uint64_t bytes,
			  uint64_t offset)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	static const uint8_t push[] = {0x55, 0x48, 0x89, 0xe5}; /* push %rbp; mov %rsp,%rbp */
	uint64_t at = bytes > sizeof(endbr) && !memcmp(code, endbr, sizeof(endbr)) ? 4 : 0;
	struct unwind_row said;

	if (bytes < at + sizeof(push) || memcmp(code + at, push, sizeof(push)) ||
	    page_make(c, offset + at + 1))
		return false;
	said = unwind_rows_at(&c->said, (offset + at + 1) & (UNWIND_PAGE_BYTES - 1));
	return said.cfa == UNWIND_CFA(UNWIND_CFA_RSP, 8);
}

static int compare_function(struct comparison *c, uint64_t start, uint64_t end)
{
	const struct frame_state_entry *nothing = frame_states_get(&c->frames, FRAME_STATE_UNKNOWN);
	AUTO_FREE uint8_t *code = malloc(end - start + 1);
	struct code_step step;
	uint64_t offset;
	int err = 0;

	if (!code)
		return -ENOMEM;
	if (!elf_file_offset(&c->elf, start, &offset) ||
	    blob_read(&c->blob, offset, code, end - start))
		return 0;
	if (is_said_wrong(c, code, end - start, offset))
		return 0;
	c->function_count++;
	for (uint64_t at = 0; !err && at < end - start; at += step.length) {
		if (!code_step(&c->decoder, code + at, end - start - at, start + at, nothing,
			       &step)) {
			step.length = 1;
			continue;
		}
		if (step.way == CODE_PADDING || step.way == CODE_TRAP)
			continue;
		err = page_make(c, offset + at);
		if (!err)
			judge(c, step.length, start + at, offset + at);
	}
	return err;
}

static int compare_all(struct comparison *c)
{
	int err = 0;

	for (uint64_t i = 0; !err && i < c->functions.count; i++) {
		struct fde_table_entry entry;
		struct call_frame frame;
		uint64_t ignored;

		err = fde_table_at(&c->functions, i, &entry);
		err = err ?: call_frame_read(&c->functions.section, entry.fde, &frame, &ignored);
		if (!err && frame.end > frame.start)
			err = compare_function(c, frame.start, frame.end);
	}
	return err;
}

static bool compare_file(const char *path, bool is_verbose, double unknown_percent)
{
	CLEANUP(comparison_deinit) struct comparison c = {.is_verbose = is_verbose};
	clock_t begin = clock();
	int err = comparison_init(&c, path);
	double percent;

	err = err ?: compare_all(&c);
	if (err) {
		fprintf(stderr, "%s: %s\n", path, strerror(-err));
		return false;
	}
	percent = c.bytes ? 100.0 / (double)c.bytes : 0;
	printf("%s: %" PRIu64 " functions, %" PRIu64 " bytes: %.3f%% the same, %.3f%% unknown, "
	       "%.3f%% wrong; %.2f s\n",
	       path, c.function_count, c.bytes, percent * (double)c.same,
	       percent * (double)c.unknown, percent * (double)c.wrong,
	       (double)(clock() - begin) / CLOCKS_PER_SEC);
	return c.bytes >= COMPARED_BYTES_MIN && percent * (double)c.unknown <= unknown_percent &&
	       (c.wrong <= WRONG_BYTES || percent * (double)c.wrong <= WRONG_PERCENT);
}

int main(int argc, char **argv)
{
	double unknown_percent = UNKNOWN_PERCENT;
	bool is_verbose = false, good;
	int option;

	while ((option = getopt(argc, argv, "vu:")) != -1) {
		if (option == 'v')
			is_verbose = true;
		else if (option == 'u')
			unknown_percent = atof(optarg);
		else
			return 2;
	}
	good = optind < argc;
	for (int i = optind; i < argc; i++)
		good = compare_file(argv[i], is_verbose, unknown_percent) && good;
	return good ? 0 : 1;
}
