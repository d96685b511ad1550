/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JITBPF_BASE_INTERN_H
#define JITBPF_BASE_INTERN_H

#include "base/index_map.h"
#include "base/item_index.h"
#include "base/room.h"
#include "base/vec.h"

/*
 * Intern an item: find the item of a vec that equals *key, or append a copy of *key. `index` is
 * the struct index_map of all items of the vec; `equal` compares an item with *key, which is not
 * in the vec. A vec holds at most INDEX_MAP_NONE - 1 items. A new item takes `bytes` of `room`.
 *
 * Returns 0 (found) or 1 (appended) with the item's number in *ret, or -ENOMEM or -EDQUOT (no room)
 * with vec, index and *ret unchanged.
 */
#define vec_intern_in(room, bytes, vec, index, hash, equal, key, ret)                              \
	({                                                                                         \
		const __typeof__(*(vec)->data) *intern_key_ = (key);                               \
		const uint64_t intern_hash_ = (hash);                                              \
		uint32_t intern_item_ =                                                            \
			index_map_find((index), intern_hash_, (equal), (vec)->data, intern_key_);  \
		int intern_result_ = intern_item_ == INDEX_MAP_NONE;                               \
                                                                                                   \
		if (intern_result_) {                                                              \
			intern_item_ = (uint32_t)(vec)->size;                                      \
			if (!room_take((room), (bytes)))                                           \
				intern_result_ = -EDQUOT;                                          \
			else if ((vec)->size >= INDEX_MAP_NONE - 1 ||                              \
				 vec_reserve((vec), (vec)->size + 1) ||                            \
				 index_map_insert((index), intern_hash_, intern_item_))            \
				intern_result_ = -ENOMEM;                                          \
			else                                                                       \
				(vec)->data[(vec)->size++] = *intern_key_;                         \
		}                                                                                  \
		if (intern_result_ >= 0)                                                           \
			*(ret) = intern_item_;                                                     \
		intern_result_;                                                                    \
	})

/* The same without a limit. */
#define vec_intern(vec, index, hash, equal, key, ret)                                              \
	vec_intern_in(NULL, 0, vec, index, hash, equal, key, ret)

/*
 * The same with a struct item_index, which has all items of the vec in their order. hash_of returns
 * the hash of an item in the vec's data.
 */
#define vec_intern_item_in(room, bytes, vec, index, hash, hash_of, equal, key, ret)                \
	({                                                                                         \
		const __typeof__(*(vec)->data) *intern_key_ = (key);                               \
		const uint64_t intern_hash_ = (hash);                                              \
		uint32_t intern_item_ =                                                            \
			item_index_find((index), intern_hash_, (equal), (vec)->data, intern_key_); \
		int intern_result_ = intern_item_ == INDEX_MAP_NONE;                               \
                                                                                                   \
		if (intern_result_) {                                                              \
			intern_item_ = (uint32_t)(vec)->size;                                      \
			if (!room_take((room), (bytes)))                                           \
				intern_result_ = -EDQUOT;                                          \
			else if (vec_reserve((vec), (vec)->size + 1) ||                            \
				 item_index_insert((index), intern_hash_, (hash_of), (vec)->data)) \
				intern_result_ = -ENOMEM;                                          \
			else                                                                       \
				(vec)->data[(vec)->size++] = *intern_key_;                         \
		}                                                                                  \
		if (intern_result_ >= 0)                                                           \
			*(ret) = intern_item_;                                                     \
		intern_result_;                                                                    \
	})

#endif
