/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Unpacks samples (uapi/packed_recording.h), for record_unpacker. */
#ifndef JITBPF_DECODE_RECORDING_SAMPLE_UNPACKER_H
#define JITBPF_DECODE_RECORDING_SAMPLE_UNPACKER_H

#include "decode/recording/record_unpacker.h"

/*
 * Unpack the sample behind its first byte, which is head. Returns 1 with a struct jitbpf_sample in
 * unpacker->record, -EBADMSG or -ENOMEM.
 */
int sample_unpack(struct record_unpacker *unpacker, struct cursor lanes[JITBPF_LANE_COUNT],
		  uint8_t head);

#endif
