/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A turn of the event loop of a run: one round of the pipeline, and what is told between rounds. */
#ifndef JITBPF_RUN_RUN_TURN_H
#define JITBPF_RUN_RUN_TURN_H

#include "run/run_setup.h"

/* Returns the recorder of the next round, or NULL. */
struct recorder *run_current_recorder(const struct run *run);

/* Begin a turn and run one round. Returns an enum source_state, or a negative errno after a
 * message. */
int run_round(struct run *run);

/* End the turn: print what went wrong in it, and write the statistics that are due. */
void run_end_turn(struct run *run);

#endif
