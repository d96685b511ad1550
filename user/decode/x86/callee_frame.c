/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/callee_frame.h"
#include "decode/x86/frame_row.h"

/* Returns true if the instruction at a reached point accesses memory relative to rbp. */
static bool is_relative_to_rbp(const struct code_flow *flow, uint32_t at)
{
	ZydisDecoderContext context;
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&flow->decoder.zydis, &context,
							flow->code + at, flow->points[at].length,
							&instruction)) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&flow->decoder.zydis, &context, &instruction,
						     operands, instruction.operand_count)))
		return false;
	for (uint32_t i = 0; i < instruction.operand_count; i++) {
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    operands[i].mem.type == ZYDIS_MEMOP_TYPE_MEM &&
		    operands[i].mem.base == ZYDIS_REGISTER_RBP)
			return true;
	}
	return false;
}

/* Returns true if the first return finds its address. */
static bool returns(const struct code_flow *flow)
{
	return flow->at_return.base == FRAME_CFA && flow->at_return.offset == -8;
}

uint32_t callee_frame_call(const struct code_flow *flow)
{
	uint32_t call = CODE_NO_CALL, length;

	if (returns(flow))
		return CODE_NO_CALL;
	for (uint32_t at = 0; at < flow->code_bytes; at += length) {
		const struct code_point *point = &flow->points[at];
		const struct frame_state *frame = &code_flow_frame(flow, point->frame)->frame;

		length = point->frame && point->length ? point->length : 1;
		if (!point->frame || !point->length ||
		    frame->registers[FRAME_RBP].base != FRAME_CALLER_RBP)
			continue;
		if (is_relative_to_rbp(flow, at))
			return call;
		if (call == CODE_NO_CALL && point->flags & CODE_POINT_CALL) {
			if (!frame_state_can_return(frame))
				return CODE_NO_CALL;
			call = at;
		}
	}
	return CODE_NO_CALL;
}
