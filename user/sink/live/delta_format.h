/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The format of a delta: the changes of an epoch's profile from one state to a later one. State 0
 * is the empty profile. All other states have numbers that are used once, so a delta applies to a
 * profile in its state `from` only. Two deltas may lead to the same state.
 *
 * A delta is a struct delta_header, then numbers as unsigned LEB128 (base/leb128.h).
 * A text is its size in bytes and the bytes. The numbers are duration_ns (so far), and
 * if `from` is 0 the run: start_ns, wall_clock_ns, freq_hz, cpus, and the texts event,
 * command, host and kernel. Then come these sections in this order, each with the
 * number of its items first. The items of the first six are appended to lists that only
 * grow, so their numbers go on from those of the deltas before. Slices are added to those before,
 * which are folded first if `levels` has items (time_slices_follow()).
 *
 *   strings   text; number 0 is empty and is not sent
 *   locations kind, plus DELTA_INTERPRETER if is_interpreter; owner, offset (struct location),
 *             names
 *   nodes     number minus that of the parent, 0 for a root; location; and, for roots
 *             only, the string of the process's name. The location of a root is a row
 *   threads   pid, tid, name, container, unit
 *   counts    node, thread, samples
 *   rows      a ledger row: pid, inner_pid, name, container, unit, fields of delta_row
 *   named     location, names: of locations that were sent before, without them
 *   counted   step, samples: counts that have changed
 *   recounted step, row: rows that have changed
 *   void      1 if the slices that were sent before are void, else 0. It has no items
 *   levels    end: all TIME_SLICES_LEVELS of time_slices.h, or none if they are unchanged
 *   slices    tick, count (both as distances from those of the item before, or from 0, by
 *             base/zigzag.h, modulo 2^32), samples
 *   code      0 if nothing has changed; else the shift of code_lane.h plus 1, the number of
 *             engines, and their names. Bins that were sent are void if the shift has grown.
 *             Then bins, with their number first: step, loads, unloads, bytes of each engine
 *
 * If DELTA_EVENTS is set, the samples of further events follow. First, if `from` is 0, their
 * number, and of each the texts name and unit, and the period. Then, of each event in turn:
 *
 *   nodes, threads, counts, counted   as above, with numbers of their own
 *   fates     step, fields of delta_fates: rows whose fates of the event have changed
 *   void, levels, slices              as above, of the event's counts
 *
 * A complete delta ends with `filtered`, the fields of delta_totals, and again these fields for
 * each further event.
 *
 * A node, location, row and the like is referred to by its number in its list, and a
 * name, module or file by that of a string. Samples are counts so far, not differences.
 * `names` is twice the number of frames, plus 1 if they are placeholders for unknown names,
 * and each frame: name, module, file, line, symbol_offset, kind, flags (struct frame) and, from bit
 * DELTA_TIER_SHIFT on, the tier; and of its function the name, or 0 if that is the frame's, and the
 * source file, or 0.
 * `fields` has a pair for each field that is not 0: the distance of its index from the
 * previous one (from -1 for the first), and its value. A 0 ends it. A step is the distance
 * of a number from that of the item before, or from 0.
 *
 * A delta refers to nothing that was not sent before, except that the row of a root may
 * follow. A large change takes several deltas. The profile is as of time_ns after a
 * complete one.
 */
#ifndef JITBPF_SINK_LIVE_DELTA_FORMAT_H
#define JITBPF_SINK_LIVE_DELTA_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "profile/event_fates.h"

#define DELTA_MAGIC   0x444c544au /* "JTLD" */
#define DELTA_VERSION 13

#define DELTA_INTERPRETER 128
#define DELTA_TIER_SHIFT  4 /* below 8 bits */

#define DELTA_COMPLETE 1 /* the profile is complete as of time_ns; else more deltas follow */
#define DELTA_EVENTS   2 /* with the samples of further events */

/* Little-endian. */
struct delta_header {
	uint32_t magic;
	uint16_t version;
	uint16_t flags;
	uint32_t epoch;
	uint32_t oldest_epoch; /* older epochs are closed: no more deltas of them */
	uint32_t from, to;     /* states */
	uint64_t time_ns;      /* of the round, CLOCK_MONOTONIC */
};

_Static_assert(sizeof(struct delta_header) == 32, "without padding");

/* Consecutive counts (uint64_t) in a struct. */
struct delta_fields {
	size_t offset;
	uint32_t count;
};

#define SAMPLE_FATES_WORDS (sizeof(struct sample_fates) / sizeof(uint64_t))
#define LEDGER_OWNERS_WORDS                                                                        \
	(LEDGER_MEMORY_COUNT * LEDGER_OWNERS_MAX * (sizeof(struct ledger_owner) / sizeof(uint64_t)))

static const struct delta_fields delta_totals[] = {
	{offsetof(struct ledger, samples), SAMPLE_FATES_WORDS},
	{offsetof(struct ledger, jit), sizeof(struct jit_counts) / sizeof(uint64_t)},
	{offsetof(struct ledger, malformed_records), 1},
	{offsetof(struct ledger, throttled_ns), 1},
	{offsetof(struct ledger, throttles), 1},
	{offsetof(struct ledger, samples_before), 1},
	{offsetof(struct ledger, counters), JITBPF_COUNTER_MAX},
	{offsetof(struct ledger, owners), LEDGER_OWNERS_WORDS},
};

_Static_assert(sizeof(struct ledger) ==
		       sizeof(((struct ledger *)0)->processes) +
			       sizeof(((struct ledger *)0)->changed_blocks) +
			       sizeof(struct sample_fates) + sizeof(struct jit_counts) +
			       (JITBPF_COUNTER_MAX + LEDGER_OWNERS_WORDS + 5) * sizeof(uint64_t),
	       "delta_totals, and `filtered`, are all of it");

static const struct delta_fields delta_fates[] = {{0, SAMPLE_FATES_WORDS}};

static const struct delta_fields delta_row[] = {
	{offsetof(struct ledger_process, start_ns), 1},
	{offsetof(struct ledger_process, processes), 1},
	{offsetof(struct ledger_process, samples), SAMPLE_FATES_WORDS},
	{offsetof(struct ledger_process, runtimes), LEDGER_RUNTIMES_MAX},
	{offsetof(struct ledger_process, jit), sizeof(struct jit_counts) / sizeof(uint64_t)},
};

_Static_assert(sizeof(struct ledger_process) ==
		       6 * sizeof(uint32_t) + sizeof(struct sample_fates) +
			       sizeof(struct jit_counts) +
			       (LEDGER_RUNTIMES_MAX + 2) * sizeof(uint64_t),
	       "delta_row, and pid, inner_pid, names, changed_round, are all");

#endif
