/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shares of the code ring. At each level, the bytes that a payer may have in the ring are limited
 * to a multiple of the free bytes, so a flood always leaves room for others. A level that sums up
 * more processes has a higher limit:
 *
 *   level    key               limit          so that room is left by
 *   process  pid               6/7 of ring    a busy process, for the others of its owner
 *   owner    user and cgroup   8/9            a container, for others that have its user
 *   user     user              12/13          a user who makes many cgroups
 *   cgroup   cgroup            16/17          a container that has many users
 *
 * The reader does not maintain the accounts. The ring is divided into RING_SEGMENTS segments. An
 * account (struct ring_share) has the number of bytes that were reserved in each of the latest
 * segments. Their sum from the reader's position on is the number of bytes in the ring, or up to a
 * segment more.
 *
 * While the ring is almost empty, nothing is charged: a record costs one query of the fill level.
 */
#ifndef JITBPF_BPF_RING_SHARES_H
#define JITBPF_BPF_RING_SHARES_H

#include "bpf/maps.h"

#define RING_SEGMENTS	 16    /* a power of two */
#define RING_SHARE_SLOTS 1024u /* of a level, a power of two; owners may share a slot */
#define RING_HEADER	 8     /* bytes before a record, BPF_RINGBUF_HDR_SZ */

enum ring_level { RING_PROCESS, RING_OWNER, RING_USER, RING_CGROUP, RING_LEVELS };

/* The process that a record is charged to, and its owner. */
struct ring_payer {
	__u64 cgroup;
	__u32 pid;
	__u32 uid; /* charged_uid of struct jitbpf_owner */
};

/* For each segment: its number in the upper half, and the bytes in it in the lower one. */
struct ring_share {
	__u64 segments[RING_SEGMENTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RING_LEVELS *RING_SHARE_SLOTS);
	__type(key, __u32);
	__type(value, struct ring_share);
} ring_shares SEC(".maps");

/* Size of the code ring; user space sets it before loading. */
const volatile __u32 code_ring_bytes = RING_DEFAULT;

/*
 * Random, so that an attacker cannot choose a pid that shares the slot of another process. User
 * space sets it before loading.
 */
const volatile __u64 ring_slot_seed = 0;

static __always_inline __u64 ring_slot_hash(__u64 value)
{
	return (value ^ ring_slot_seed) * 0x9e3779b97f4a7c15ull >> 32;
}

static __always_inline struct ring_share *ring_share_of(const struct ring_payer *payer, int level)
{
	__u64 hash;
	__u32 slot;

	switch (level) {
	case RING_PROCESS:
		hash = payer->pid;
		break;
	case RING_OWNER:
		hash = ring_slot_hash(payer->cgroup) ^ payer->uid;
		break;
	case RING_USER:
		hash = payer->uid;
		break;
	default:
		hash = payer->cgroup;
	}
	slot = level * RING_SHARE_SLOTS + (ring_slot_hash(hash) & (RING_SHARE_SLOTS - 1));
	return bpf_map_lookup_elem(&ring_shares, &slot);
}

static __always_inline __u32 ring_segment(__u64 position)
{
	return position / (code_ring_bytes / RING_SEGMENTS);
}

/* Segments are numbered modulo 2^32. */
static __always_inline bool is_older(__u32 segment, __u32 than)
{
	return (__s32)(segment - than) < 0;
}

static __always_inline void charge_segment(__u64 *cell, __u32 segment, __u32 bytes)
{
	__u64 old = *(volatile __u64 *)cell, fresh = (__u64)segment << 32 | bytes;

	if (is_older(old >> 32, segment) && __sync_val_compare_and_swap(cell, old, fresh) == old)
		return;
	__sync_fetch_and_add(cell, bytes);
}

static __always_inline bool ring_is_almost_empty(void)
{
	return bpf_ringbuf_query(&code_ring, BPF_RB_AVAIL_DATA) < code_ring_bytes / 64;
}

/* A global function, so that the verifier checks it once. */
__noinline int charge_payer(const struct ring_payer *payer, __u32 bytes)
{
	__u32 segment = ring_segment(bpf_ringbuf_query(&code_ring, BPF_RB_PROD_POS));

	if (!payer)
		return 0;
	for (int level = 0; level < RING_LEVELS; level++) {
		struct ring_share *share = ring_share_of(payer, level);

		if (share)
			charge_segment(&share->segments[segment & (RING_SEGMENTS - 1)], segment,
				       bytes);
	}
	return 0;
}

/* Charges a record that was reserved, and its header. */
static __always_inline void ring_charge(const struct ring_payer *payer, __u32 record_bytes)
{
	if (!ring_is_almost_empty())
		charge_payer(payer, record_bytes + RING_HEADER);
}

/*
 * Returns the bytes of a share from a segment on. A global function without branches, so that the
 * verifier checks it once, along one path.
 */
__noinline __u64 ring_used(const struct ring_share *share, __u32 from)
{
	__u64 used = 0;

	if (!share)
		return 0;
#pragma unroll
	for (int i = 0; i < RING_SEGMENTS; i++) {
		__u64 cell = *(const volatile __u64 *)&share->segments[i];
		__s64 age = cell - ((__u64)from << 32); /* negative: is_older() */

		asm volatile("" : "+r"(age)); /* the compiler would branch */
		used += (__u32)cell & ~(age >> 63);
		asm volatile("" : "+r"(used)); /* it would keep all cells on the stack */
	}
	return used;
}

/* Returns the limit of a level, as a multiple of the free bytes. */
static __always_inline __u32 ring_limit(int level)
{
	return level == RING_PROCESS ? 6 : level == RING_OWNER ? 8 : level == RING_USER ? 12 : 16;
}

/*
 * Returns 1 if a payer may reserve a record of so many bytes when the ring is filled up to `used`.
 * Copies of code leave 1/32 of the ring free, and a process has a quarter of the ring for them. The
 * other limits of copies are twice as high. So a flood of events causes refusals of copies only for
 * its own process.
 */
__noinline int ring_has_share(const struct ring_payer *payer, __u64 used, __u32 bytes, bool is_copy)
{
	__u64 kept_free = bytes + (is_copy ? code_ring_bytes / 32 : 0);
	__u64 begin = bpf_ringbuf_query(&code_ring, BPF_RB_CONS_POS), free;

	if (!payer || used + kept_free > code_ring_bytes)
		return 0;
	free = code_ring_bytes - used - kept_free;
	for (int level = 0; level < RING_LEVELS; level++) {
		const struct ring_share *share = ring_share_of(payer, level);
		__u64 limit = ring_limit(level) * (is_copy ? 2 : 1) * free, own;

		if (!share)
			return 0;
		own = ring_used(share, ring_segment(begin));
		own = (own < used ? own : used) + bytes;
		if (own > limit || (is_copy && level == RING_PROCESS && own > code_ring_bytes / 4))
			return 0;
	}
	return 1;
}

/*
 * Returns true if a payer may reserve a record. Up to a fill level at which no limit can be
 * exceeded, the shares are not read.
 */
static __always_inline bool ring_admits(const struct ring_payer *payer, __u32 record_bytes,
					bool is_copy)
{
	__u32 bytes = record_bytes + RING_HEADER;
	__u64 used = bpf_ringbuf_query(&code_ring, BPF_RB_AVAIL_DATA);

	if (used + bytes <= (is_copy ? code_ring_bytes / 4 : code_ring_bytes / 4 * 3))
		return true;
	return ring_has_share(payer, used, bytes, is_copy);
}

#endif
