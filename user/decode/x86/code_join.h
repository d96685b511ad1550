/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Paths of control flow that join at an instruction. The frame there is what the frames of all
 * paths agree on. Where they contradict each other, one of the paths may not exist, since a call
 * does not return, or a trial (code_flow_try()) is refuted.
 */
#ifndef JITBPF_DECODE_X86_CODE_JOIN_H
#define JITBPF_DECODE_X86_CODE_JOIN_H

#include "decode/x86/code_flow.h"

/*
 * Arrive at an instruction. Returns 1 if it must be decoded with the point's frame, 0 if that
 * was done before, or -ENOMEM.
 */
int code_join_arrive(struct code_flow *flow, const struct code_edge *edge);

#endif
