/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/cfi/frame_rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <ucontext.h>

#include "decode/dwarf/dwarf_constants.h"

#define OFFSET_MAX (1 << 30)

static bool place_is(const struct frame_place *place, enum frame_place_kind kind, uint8_t base,
		     int64_t offset)
{
	return place->kind == kind && place->base == base && place->offset == offset;
}

static bool rsp_is_cfa(const struct frame_place *rsp)
{
	return rsp->kind == FRAME_SAME || place_is(rsp, FRAME_VALUE, FRAME_BASE_CFA, 0);
}

static bool place_saved(const struct frame_place *place, int greg_offset)
{
	return place_is(place, FRAME_MEMORY, DWARF_REGISTER_RSP, greg_offset);
}

/* Match the rules that glibc gives for its signal trampoline: offsets into struct ucontext. */
static bool rules_of_signal(const struct frame_rules *rules)
{
	return place_saved(&rules->ra, offsetof(ucontext_t, uc_mcontext.gregs[REG_RIP])) &&
	       place_saved(&rules->cfa, offsetof(ucontext_t, uc_mcontext.gregs[REG_RSP])) &&
	       place_saved(&rules->rbp, offsetof(ucontext_t, uc_mcontext.gregs[REG_RBP]));
}

static bool cfa_of_saved_rsp(const struct frame_place *cfa, int32_t *ret)
{
	if (cfa->offset % 8 || cfa->offset < -UNWIND_SLOT_MAX || cfa->offset >= UNWIND_SLOT_MAX)
		return false;
	*ret = UNWIND_CFA_AT_SLOT((int32_t)cfa->offset, 8);
	return true;
}

static bool cfa_of_rules(const struct frame_place *cfa, int32_t *ret)
{
	enum unwind_rule rule;

	if (cfa->kind == FRAME_PLT) {
		*ret = UNWIND_CFA_COMMAND(UNWIND_PLT);
		return true;
	}
	if (cfa->kind == FRAME_VALUE && cfa->base == DWARF_REGISTER_RSP)
		rule = UNWIND_CFA_RSP;
	else if (cfa->kind == FRAME_VALUE && cfa->base == DWARF_REGISTER_RBP)
		rule = UNWIND_CFA_RBP;
	else if (cfa->kind == FRAME_MEMORY && cfa->base == DWARF_REGISTER_RBP)
		rule = UNWIND_CFA_SAVED;
	else if (cfa->kind == FRAME_SAVED_RSP && cfa->base == DWARF_REGISTER_RSP)
		return cfa_of_saved_rsp(cfa, ret);
	else
		return false;
	if (cfa->offset % 8 || cfa->offset < -OFFSET_MAX || cfa->offset > OFFSET_MAX)
		return false;
	*ret = UNWIND_CFA((int32_t)cfa->offset, rule);
	return true;
}

static bool rbp_of_rules(const struct frame_rules *rules, int word_bytes, int16_t *ret)
{
	const struct frame_place *cfa = &rules->cfa, *rbp = &rules->rbp;
	uint64_t offset = (uint64_t)rbp->offset;
	int64_t words;

	if (rbp->kind == FRAME_SAME) {
		*ret = UNWIND_RBP_KEPT;
		return true;
	}
	if (rbp->kind != FRAME_MEMORY || cfa->kind == FRAME_PLT)
		return false;
	/* A row's rbp is relative to the CFA, or to rbp if the CFA is stored in memory. */
	if (cfa->kind == FRAME_VALUE && rbp->base == cfa->base)
		offset -= (uint64_t)cfa->offset;
	else if (rbp->base != (cfa->kind == FRAME_MEMORY ? DWARF_REGISTER_RBP : FRAME_BASE_CFA))
		return false;
	words = (int64_t)offset / word_bytes;
	if ((int64_t)offset % word_bytes || words < INT16_MIN || words >= UNWIND_RBP_KEPT)
		return false;
	*ret = (int16_t)words;
	return true;
}

struct unwind_row frame_rules_row(const struct frame_rules *rules)
{
	struct unwind_row row = {.cfa = UNWIND_CFA_COMMAND(UNWIND_UNKNOWN), .rbp = UNWIND_RBP_KEPT};
	int32_t cfa;

	if (rules->ra.kind == FRAME_UNDEFINED)
		row.cfa = UNWIND_CFA_COMMAND(UNWIND_ROOT);
	else if (rules_of_signal(rules))
		row.cfa = UNWIND_CFA_COMMAND(UNWIND_SIGNAL);
	else if (place_is(&rules->ra, FRAME_MEMORY, FRAME_BASE_CFA, -8) &&
		 rsp_is_cfa(&rules->rsp) && cfa_of_rules(&rules->cfa, &cfa) &&
		 rbp_of_rules(rules, 8, &row.rbp))
		row.cfa = cfa;
	return row;
}

/* --- 32-bit code ---------------------------------------------------------------------- */

static bool narrow_cfa(const struct frame_place *cfa, int32_t *ret)
{
	enum unwind_narrow_rule rule;

	if (cfa->kind == FRAME_PLT) {
		*ret = UNWIND_NARROW_CFA(UNWIND_NARROW_PLT, 0);
		return true;
	}
	if (cfa->kind == FRAME_VALUE && cfa->base == DWARF_REGISTER_RSP)
		rule = UNWIND_NARROW_ESP;
	else if (cfa->kind == FRAME_VALUE && cfa->base == DWARF_REGISTER_RBP)
		rule = UNWIND_NARROW_EBP;
	else if (cfa->kind == FRAME_MEMORY && cfa->base == DWARF_REGISTER_RBP)
		rule = UNWIND_NARROW_SAVED;
	else
		return false;
	if (cfa->offset % 4 || cfa->offset < -UNWIND_NARROW_MAX || cfa->offset >= UNWIND_NARROW_MAX)
		return false;
	*ret = UNWIND_NARROW_CFA(rule, (int32_t)cfa->offset);
	return true;
}

struct unwind_row frame_rules_narrow_row(const struct frame_rules *rules)
{
	struct unwind_row row = {.cfa = UNWIND_CFA_COMMAND(UNWIND_UNKNOWN), .rbp = UNWIND_RBP_KEPT};
	int32_t cfa;

	if (rules->ra.kind == FRAME_UNDEFINED)
		row.cfa = UNWIND_CFA_COMMAND(UNWIND_ROOT);
	else if (place_is(&rules->ra, FRAME_MEMORY, FRAME_BASE_CFA, -4) &&
		 rsp_is_cfa(&rules->rsp) && narrow_cfa(&rules->cfa, &cfa) &&
		 rbp_of_rules(rules, 4, &row.rbp))
		row.cfa = cfa;
	return row;
}
