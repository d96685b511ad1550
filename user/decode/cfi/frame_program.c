/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/cfi/frame_program.h"

#include "decode/dwarf/dwarf_constants.h"
#include "decode/dwarf/dwarf_data.h"
#include "decode/cfi/eh_pointer.h"
#include "decode/cfi/frame_expression.h"

#define REMEMBERED_MAX 16

struct run {
	const struct frame_program *program;
	/* rules for DW_CFA_restore; NULL in the program of a CIE */
	const struct frame_rules *initial;
	struct cursor code;
	uint64_t location;
	struct frame_rules rules;
	struct frame_rules remembered[REMEMBERED_MAX];
	uint32_t remembered_count;
	/* NULL in the program of a CIE, which has no locations */
	const struct frame_window *window;
};

int frame_window_add(const struct frame_window *window, uint64_t address, int32_t cfa, int16_t rbp)
{
	if (address >= window->end)
		return 0;
	if (address < window->start)
		address = window->start;
	return unwind_rows_add(window->rows, window->offset + (uint32_t)(address - window->start),
			       cfa, rbp);
}

static int run_add_row(const struct run *run)
{
	struct unwind_row row = run->program->narrow ? frame_rules_narrow_row(&run->rules)
						     : frame_rules_row(&run->rules);

	return frame_window_add(run->window, run->location, row.cfa, row.rbp);
}

/* --- instructions: 0, or -EBADMSG --------------------------------------------- */

static struct frame_place *place_of(struct frame_rules *rules, uint64_t number)
{
	switch (number) {
	case DWARF_REGISTER_RBP:
		return &rules->rbp;
	case DWARF_REGISTER_RSP:
		return &rules->rsp;
	case DWARF_REGISTER_RA:
		return &rules->ra;
	default:
		return NULL;
	}
}

static void rule_set(struct run *run, uint64_t number, struct frame_place place)
{
	struct frame_place *of =
		place_of(&run->rules, frame_register_role(run->program->narrow, number));

	if (of)
		*of = place;
}

static int rule_restore(struct run *run, uint64_t number)
{
	if (!run->initial)
		return -EBADMSG;
	switch (frame_register_role(run->program->narrow, number)) {
	case DWARF_REGISTER_RBP:
		run->rules.rbp = run->initial->rbp;
		break;
	case DWARF_REGISTER_RSP:
		run->rules.rsp = run->initial->rsp;
		break;
	case DWARF_REGISTER_RA:
		run->rules.ra = run->initial->ra;
		break;
	}
	return 0;
}

/* A place relative to the CFA, in data factors. Overflow is harmless: frame_rules_row() checks. */
static struct frame_place place_in_frame(const struct run *run, enum frame_place_kind kind,
					 uint64_t factored)
{
	return (struct frame_place){
		.kind = kind,
		.base = FRAME_BASE_CFA,
		.offset = (int64_t)(factored * (uint64_t)run->program->data_factor),
	};
}

static int expression_read(struct run *run, struct frame_place *ret)
{
	const void *bytes;
	uint64_t size_bytes;

	if (leb128_read(&run->code, &size_bytes) || cursor_take(&run->code, size_bytes, &bytes))
		return -EBADMSG;
	*ret = frame_expression_place(cursor_of(bytes, size_bytes), run->program->narrow);
	return 0;
}

/* Read an offset: unsigned and unfactored, or signed and in data factors. */
static int offset_read(struct run *run, bool factored, uint64_t *ret)
{
	int64_t number;

	if (!factored)
		return leb128_read(&run->code, ret);
	if (dwarf_read_sleb(&run->code, &number))
		return -EBADMSG;
	*ret = (uint64_t)number * (uint64_t)run->program->data_factor;
	return 0;
}

static int cfa_define(struct run *run, uint8_t operation)
{
	bool factored =
		operation == DWARF_CFA_DEF_CFA_SF || operation == DWARF_CFA_DEF_CFA_OFFSET_SF;
	struct frame_place *cfa = &run->rules.cfa;
	bool is_value = cfa->kind == FRAME_VALUE;
	uint64_t number = cfa->base, offset = (uint64_t)cfa->offset;

	switch (operation) {
	case DWARF_CFA_DEF_CFA:
	case DWARF_CFA_DEF_CFA_SF:
		if (leb128_read(&run->code, &number) || offset_read(run, factored, &offset))
			return -EBADMSG;
		number = frame_register_role(run->program->narrow, number);
		break;
	case DWARF_CFA_DEF_CFA_REGISTER:
		if (!is_value || leb128_read(&run->code, &number))
			return -EBADMSG;
		number = frame_register_role(run->program->narrow, number);
		break;
	case DWARF_CFA_DEF_CFA_OFFSET:
	case DWARF_CFA_DEF_CFA_OFFSET_SF:
		if (!is_value || offset_read(run, factored, &offset))
			return -EBADMSG;
		break;
	default:
		return expression_read(run, cfa);
	}
	*cfa = frame_place_at(FRAME_VALUE, number, (int64_t)offset);
	return 0;
}

/* Set the rule of a register by an instruction. */
static int register_define(struct run *run, uint8_t operation, uint64_t number)
{
	struct frame_place place = {.kind = FRAME_OTHER};
	enum frame_place_kind kind = FRAME_MEMORY;
	uint64_t offset;
	int64_t number_signed;

	switch (operation) {
	case DWARF_CFA_VAL_OFFSET:
		kind = FRAME_VALUE; /* fall through */
	case DWARF_CFA_OFFSET:
	case DWARF_CFA_OFFSET_EXTENDED:
	case DWARF_CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		if (leb128_read(&run->code, &offset))
			return -EBADMSG;
		if (operation == DWARF_CFA_GNU_NEGATIVE_OFFSET_EXTENDED)
			offset = -offset;
		place = place_in_frame(run, kind, offset);
		break;
	case DWARF_CFA_VAL_OFFSET_SF:
		kind = FRAME_VALUE; /* fall through */
	case DWARF_CFA_OFFSET_EXTENDED_SF:
		if (dwarf_read_sleb(&run->code, &number_signed))
			return -EBADMSG;
		place = place_in_frame(run, kind, (uint64_t)number_signed);
		break;
	case DWARF_CFA_UNDEFINED:
		place.kind = FRAME_UNDEFINED;
		break;
	case DWARF_CFA_SAME_VALUE:
		place.kind = FRAME_SAME;
		break;
	case DWARF_CFA_REGISTER:
		if (leb128_read(&run->code, &offset))
			return -EBADMSG;
		break;
	default: /* DWARF_CFA_EXPRESSION, DWARF_CFA_VAL_EXPRESSION */
		if (expression_read(run, &place))
			return -EBADMSG;
		/*
		 * DW_CFA_expression computes the address of the saved value,
		 * the other the value itself.
		 */
		if (operation == DWARF_CFA_EXPRESSION)
			place.kind = place.kind == FRAME_VALUE ? FRAME_MEMORY : FRAME_OTHER;
	}
	rule_set(run, number, place);
	return 0;
}

static int state_remember(struct run *run)
{
	if (run->remembered_count == REMEMBERED_MAX)
		return -EBADMSG;
	run->remembered[run->remembered_count++] = run->rules;
	return 0;
}

static int state_restore(struct run *run)
{
	if (!run->remembered_count)
		return -EBADMSG;
	run->rules = run->remembered[--run->remembered_count];
	return 0;
}

/* Read the next location from the operand or from the instruction's low bits. */
static int location_read(struct run *run, uint8_t operation, uint64_t *ret)
{
	struct eh_pointer_base base = {.here = run->program->code_address,
				       .narrow = run->program->narrow};
	static const uint8_t bytes[] = {
		[DWARF_CFA_ADVANCE_LOC1] = 1,
		[DWARF_CFA_ADVANCE_LOC2] = 2,
		[DWARF_CFA_ADVANCE_LOC4] = 4,
	};
	uint64_t delta = operation & ~DWARF_CFA_HIGH;

	if (operation == DWARF_CFA_SET_LOC)
		return eh_pointer_read(&run->code, run->program->pointer_encoding, &base, ret);
	if (!(operation & DWARF_CFA_HIGH) && dwarf_read_uint(&run->code, bytes[operation], &delta))
		return -EBADMSG;
	if (__builtin_mul_overflow(delta, run->program->code_factor, &delta) ||
	    __builtin_add_overflow(run->location, delta, ret))
		return -EBADMSG;
	return 0;
}

/* Add a row for the rules in effect, and move to the next location. */
static int location_advance(struct run *run, uint8_t operation)
{
	uint64_t next;
	int err = 0;

	if (!run->window || location_read(run, operation, &next) || next < run->location)
		return -EBADMSG;
	if (next > run->location && next > run->window->start)
		err = run_add_row(run);
	run->location = next;
	return err;
}

static int instruction_run_low(struct run *run, uint8_t operation)
{
	uint64_t number;

	switch (operation) {
	case DWARF_CFA_NOP:
		return 0;
	case DWARF_CFA_SET_LOC:
	case DWARF_CFA_ADVANCE_LOC1:
	case DWARF_CFA_ADVANCE_LOC2:
	case DWARF_CFA_ADVANCE_LOC4:
		return location_advance(run, operation);
	case DWARF_CFA_REMEMBER_STATE:
		return state_remember(run);
	case DWARF_CFA_RESTORE_STATE:
		return state_restore(run);
	case DWARF_CFA_DEF_CFA:
	case DWARF_CFA_DEF_CFA_SF:
	case DWARF_CFA_DEF_CFA_REGISTER:
	case DWARF_CFA_DEF_CFA_OFFSET:
	case DWARF_CFA_DEF_CFA_OFFSET_SF:
	case DWARF_CFA_DEF_CFA_EXPRESSION:
		return cfa_define(run, operation);
	case DWARF_CFA_GNU_ARGS_SIZE:
		return leb128_read(&run->code, &number);
	}
	if (operation > DWARF_CFA_VAL_EXPRESSION &&
	    operation != DWARF_CFA_GNU_NEGATIVE_OFFSET_EXTENDED)
		return -EBADMSG;
	if (leb128_read(&run->code, &number))
		return -EBADMSG;
	return operation == DWARF_CFA_RESTORE_EXTENDED ? rule_restore(run, number)
						       : register_define(run, operation, number);
}

static int instruction_run(struct run *run)
{
	uint8_t operation;

	if (dwarf_read_u8(&run->code, &operation))
		return -EBADMSG;
	switch (operation & DWARF_CFA_HIGH) {
	case DWARF_CFA_ADVANCE_LOC:
		return location_advance(run, operation);
	case DWARF_CFA_OFFSET:
		return register_define(run, DWARF_CFA_OFFSET, operation & ~DWARF_CFA_HIGH);
	case DWARF_CFA_RESTORE:
		return rule_restore(run, operation & ~DWARF_CFA_HIGH);
	default:
		return instruction_run_low(run, operation);
	}
}

int frame_program_rules(const struct frame_program *program, struct frame_rules *ret)
{
	struct run run = {
		.program = program,
		.code = program->code,
		/* Default by the ABI: a register without a rule keeps its value. */
		.rules = {.cfa = {.kind = FRAME_OTHER}, .ra = {.kind = FRAME_OTHER}},
	};

	while (cursor_left(&run.code)) {
		if (instruction_run(&run))
			return -EBADMSG;
	}
	*ret = run.rules;
	return 0;
}

int frame_program_run(const struct frame_program *program, const struct frame_rules *initial,
		      uint64_t start, const struct frame_window *window)
{
	static const struct frame_rules unknown = {.ra = {.kind = FRAME_OTHER}};
	struct run run = {
		.program = program,
		.initial = initial,
		.code = program->code,
		.location = start,
		.rules = *initial,
		.window = window,
	};
	int err = 0;

	while (!err && cursor_left(&run.code) && run.location < window->end)
		err = instruction_run(&run);
	if (err == -EBADMSG) {
		run.rules = unknown;
		err = 0;
	}
	return err ? err : run_add_row(&run);
}
