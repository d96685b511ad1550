/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JITBPF_BASE_SEARCH_H
#define JITBPF_BASE_SEARCH_H

/*
 * Binary search. `condition` is an expression over the index `at`. It holds for all indexes
 * before some point of [low, high), and for none from there on. Returns that point: the first
 * index where the condition is false, or high. If high <= low, it returns low.
 *
 * 	after = partition_point(0, rows->size, i, rows->data[i].offset <= offset);
 *
 * The type is that of low + high. If the condition is not monotone, the result is some index of
 * [low, high]. If the condition is a comparison, the loop has no branch that depends on it. While
 * the array fits into the cache, that is up to four times as fast as a loop with such a branch.
 */
#define partition_point(low, high, at, condition)                                                  \
	({                                                                                         \
		__typeof__((low) + (high)) search_low_ = (low), search_end_ = (high);              \
		__typeof__(search_low_) search_half_,                                              \
			search_left_ = search_low_ < search_end_ ? search_end_ - search_low_ : 0;  \
		for (; search_left_; search_left_ -= search_half_) {                               \
			search_half_ = search_left_ - search_left_ / 2;                            \
			const __typeof__(search_low_) at = search_low_ + search_half_ - 1;         \
			search_low_ = (condition) ? at + 1 : search_low_;                          \
		}                                                                                  \
		search_low_;                                                                       \
	})

#endif
