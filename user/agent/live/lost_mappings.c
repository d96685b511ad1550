/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/live/lost_mappings.h"

#include "agent/clock.h"

/* The pause after a pass is at least this many times as long as the pass. */
#define REST_SHARE 4

static int begin_pass(struct lost_mappings *lost)
{
	int err;

	lost->pids.size = 0;
	err = process_scan_list(&lost->pids);
	if (err)
		return err;
	lost->left = lost->pids.size;
	lost->pass_lost_ns = lost->lost_ns;
	lost->pass_took_ns = 0;
	lost->lost_ns = 0;
	return 0;
}

/* Read processes of the pass until the time of a round is used up. */
static int go_on(struct lost_mappings *lost, uint64_t round_ns, const struct process_scan *scan)
{
	uint64_t began_ns = clock_now_ns(), now_ns = began_ns, rest_ns;
	int err = 0;

	while (lost->left && !err && now_ns - began_ns < LOST_MAPPINGS_ROUND_NS) {
		err = process_scan_again(scan, lost->pids.data[--lost->left], lost->pass_lost_ns,
					 round_ns);
		now_ns = clock_now_ns();
	}
	lost->pass_took_ns += now_ns - began_ns;
	rest_ns = REST_SHARE * lost->pass_took_ns;
	lost->rest_until_ns =
		now_ns + (rest_ns > LOST_MAPPINGS_REST_NS ? rest_ns : LOST_MAPPINGS_REST_NS);
	return err;
}

int lost_mappings_round(struct lost_mappings *lost, uint64_t losses, uint64_t round_ns,
			const struct process_scan *scan)
{
	int err = 0;

	/* The ring is drained in each round, so new losses are younger than the previous round. */
	if (losses != lost->losses && !lost->lost_ns)
		lost->lost_ns = lost->round_ns ?: round_ns;
	lost->losses = losses;
	lost->round_ns = round_ns;
	if (!lost->left && lost->lost_ns && round_ns >= lost->rest_until_ns)
		err = begin_pass(lost);
	if (!err && lost->left)
		err = go_on(lost, round_ns, scan);
	return err;
}

void lost_mappings_deinit(struct lost_mappings *lost)
{
	vec_deinit(&lost->pids);
}
