/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packs samples (uapi/packed_recording.h). Memory is bounded: with JITBPF_NODES_MAX nodes or
 * JITBPF_THREADS_MAX threads, the packer begins anew by a FRESH chunk.
 */
#ifndef JITBPF_PIPELINE_RECORD_SAMPLE_PACKER_H
#define JITBPF_PIPELINE_RECORD_SAMPLE_PACKER_H

#include <stdbool.h>

#include "base/index_map.h"
#include "decode/recording/sample_state.h"
#include "pipeline/record/record_packer.h"

#define SAMPLE_PACKER_PATHS  8
#define SAMPLE_PACKER_RECENT 4096 /* a power of two */

/* The path of the last sample on a CPU: most samples share their outer words with it. */
struct packed_path {
	uint32_t root;
	uint32_t user_words, kernel_words;
	/* As in the sample, at the ends of the arrays. */
	uint64_t user[JITBPF_USER_WORDS_MAX];
	uint64_t kernel[JITBPF_KERNEL_FRAMES_MAX];
	/* From the outermost user frame to the innermost kernel frame. */
	uint32_t nodes[JITBPF_SAMPLE_WORDS_MAX];
};

struct sample_packer {
	struct sample_state state;
	struct index_map children; /* nodes by parent and word */
	/* By node, modulo SAMPLE_PACKER_RECENT: its child that was found last, or of another one.
	 */
	uint32_t *recent;
	struct index_map threads;  /* of state.threads */
	struct packed_path *paths; /* by CPU, modulo SAMPLE_PACKER_PATHS */
};

/* To be called at the INFO chunk with this frequency. Returns 0 or -ENOMEM. */
int sample_packer_init(struct sample_packer *packer, uint32_t freq_hz);
void sample_packer_deinit(struct sample_packer *packer);

/* Returns true if the packed form can hold a sample whose size is that of its fixed part or more.
 */
bool sample_packer_can(const struct jitbpf_sample *sample);

/*
 * Add a sample for which sample_packer_can(), and chunks that it needs. Returns 0 or -ENOMEM, after
 * which neither packer can be used.
 */
int sample_pack(struct sample_packer *packer, struct record_packer *records,
		const struct jitbpf_sample *sample);

#endif
