/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the function object of a runtime frame and its owner, and makes the check word. */
#ifndef JITBPF_BPF_RUNTIME_CHECK_H
#define JITBPF_BPF_RUNTIME_CHECK_H

#include "bpf/sample_scratch.h"
#include "uapi/runtime_recipe.h"

/*
 * Which functions samples have had: a hash of each, at one of two slots. If functions displace each
 * other, the reader finds nothing new, and sets a later time for the next wake-up.
 */
#define RUNTIME_MET	(1u << 14)
#define RUNTIME_WAKE_NS 1000000 /* the reader needs as long to wake up */
__u32 runtime_met[RUNTIME_MET] = {0};
__u64 runtime_wake_ns = 0; /* from then on, a new function wakes the reader */
__u64 runtime_wakes = 0;

#define OBJECT_OFFSET_MASK (RUNTIME_OBJECT_BYTES_MAX - 1)

/* Returns the word of the function object that was read at an offset, which is in it. */
static __always_inline __u64 object_word(const struct runtime_walk *w, __s16 offset)
{
	__u64 at = (__u16)offset;

	asm volatile("" : "+r"(at));
	at &= OBJECT_OFFSET_MASK;
	return *(const __u64 *)(w->object_bytes + at);
}

/* Reads the first bytes of the function object. Returns false if they cannot be read. */
static __always_inline bool read_object(struct runtime_walk *w, __u64 bytes)
{
	asm volatile("" : "+r"(bytes));
	return bytes <= RUNTIME_OBJECT_BYTES_MAX &&
	       !bpf_probe_read_user(w->object_bytes, bytes, (void *)w->function);
}

/* Folds the words of the object at check.offset. */
static __always_inline __u64 fold_words(const struct runtime_walk *w,
					const struct runtime_recipe *recipe)
{
	__u64 check = RUNTIME_CHECK_BEGIN;

	for (__u32 i = 0; i < RUNTIME_CHECK_BYTES_MAX / sizeof(__u64); i++)
		if (i * sizeof(__u64) < recipe->check.size_bytes)
			check = runtime_check_fold(
				check, object_word(w, recipe->check.offset + i * sizeof(__u64)));
	return check;
}

/* Returns the word of the owner that was read at an offset, which is in it. */
static __always_inline __u64 owner_word(const struct runtime_walk *w, __s16 offset)
{
	__u64 at = (__u16)offset;

	asm volatile("" : "+r"(at));
	at &= RUNTIME_OWNER_BYTES_MAX - 1;
	return *(const __u64 *)(w->owner_bytes + at);
}

/* Folds the words of the owner, if there is one. */
static __always_inline __u64 fold_owner(const struct runtime_walk *w,
					const struct runtime_recipe *recipe, __u64 check)
{
	if (!w->owner)
		return check;
	for (__u32 i = 0; i < RUNTIME_OWNER_BYTES_MAX / sizeof(__u64); i++)
		if (i * sizeof(__u64) < recipe->owner.check_bytes)
			check = runtime_check_fold(check, owner_word(w, recipe->owner.check_offset +
										i * sizeof(__u64)));
	return check;
}

/* Folds what the chain of objects behind w->function says. Returns 0 if it cannot be read. */
static __always_inline __u64 fold_links(const struct runtime_walk *w,
					const struct runtime_recipe *recipe, __u64 check)
{
	const struct runtime_check_link *link;
	__u64 address = w->function, word;

	if (recipe->check.links_mask && ((__u32)object_word(w, recipe->check.links_at) &
					 recipe->check.links_mask) != recipe->check.links_value)
		return check;
	for (__u32 i = 0; i < RUNTIME_CHECK_LINKS_MAX; i++) {
		if (i >= recipe->check.link_count)
			break;
		link = &recipe->check.link[i];
		if (link->step != RUNTIME_NO_OFFSET &&
		    bpf_probe_read_user(&address, sizeof(address), (void *)(address + link->step)))
			return 0;
		if (link->folds_address)
			check = runtime_check_fold(check, address);
		if (!address)
			break;
		if (link->word_at == RUNTIME_NO_OFFSET)
			continue;
		if (bpf_probe_read_user(&word, sizeof(word), (void *)(address + link->word_at)))
			return 0;
		check = runtime_check_fold(check, word & link->word_mask);
	}
	return check;
}

/*
 * Reads w->function. Returns its check word, 0 if it cannot be read; and sets w->is_native. Global,
 * as walk_frame() is.
 */
__noinline __u64 runtime_check_of(struct runtime_walk *w, struct runtime_recipe *recipe)
{
	__u64 check, name, word;
	__u32 names;

	if (!w || !recipe)
		return 0;
	w->is_native = 0;
	if (!read_object(w, recipe->native_bytes))
		return 0;
	w->is_native = recipe->native_mask && ((__u32)object_word(w, recipe->native_at) &
					       recipe->native_mask) == recipe->native_value;
	if (!w->is_native && recipe->object_bytes != recipe->native_bytes &&
	    !read_object(w, recipe->object_bytes))
		return 0;
	check = fold_words(w, recipe);
	for (__u32 i = 0; i < RUNTIME_CHECK_WORDS_MAX; i++)
		if (!w->is_native && i < recipe->check.word_count)
			check = runtime_check_fold(check, object_word(w, recipe->check.word[i]));
	names = w->is_native ? recipe->check.native_names : recipe->check.name_count;
	for (__u32 i = 0; i < RUNTIME_CHECK_NAMES_MAX; i++) {
		if (i >= names)
			break;
		name = object_word(w, recipe->check.name_at[i]);
		word = 0;
		if (name && bpf_probe_read_user(&word, sizeof(word),
						(void *)(name + recipe->check.name_word[i])))
			return 0;
		check = runtime_check_fold(check, word);
	}
	if (recipe->check.link_count)
		check = fold_links(w, recipe, check);
	return fold_owner(w, recipe, check & ~1ull) & ~1ull;
}

/*
 * Reads the text at w->function, the name of a file. Returns its check word, 0 if it cannot be
 * read or is too long. Global, as walk_frame() is.
 */
__noinline __u64 runtime_text_check_of(struct runtime_walk *w, struct runtime_recipe *recipe)
{
	__u64 check = RUNTIME_CHECK_BEGIN, word;
	long bytes;

	if (!w || !recipe)
		return 0;
	w->is_native = 0;
	__builtin_memset(w->object_bytes, 0, RUNTIME_OBJECT_BYTES_MAX);
	bytes = bpf_probe_read_user_str(w->object_bytes, RUNTIME_OBJECT_BYTES_MAX,
					(void *)w->function);
	if (bytes <= 0 || bytes > RUNTIME_TEXT_BYTES_MAX)
		return 0;
	word = *(const __u64 *)w->object_bytes & recipe->sections.text_mask;
	if (recipe->sections.text_mask && word == recipe->sections.text_value)
		return runtime_check_fold(check, word) & ~1ull;
	/* Old verifiers cannot bound a loop to the end of the text. */
	for (__u32 i = 0; i < RUNTIME_OBJECT_BYTES_MAX / sizeof(__u64); i++)
		check = runtime_check_fold(check,
					   *(const __u64 *)(w->object_bytes + i * sizeof(__u64)));
	return check & ~1ull;
}

/* Notes that a sample has w->function. */
static __always_inline void meet(struct runtime_walk *w, __u64 check)
{
	__u64 hash = (w->function ^ check) * 0x9e3779b97f4a7c15ull;
	__u64 slot = hash >> 32 & (RUNTIME_MET - 1), other = hash >> 46 & (RUNTIME_MET - 1);
	__u32 tag = (__u32)hash | 1;

	if (!check || runtime_met[slot] == tag || runtime_met[other] == tag)
		return;
	if (w->walk & 1)
		runtime_met[slot] = tag;
	else
		runtime_met[other] = tag;
	w->news = 1;
}

/* runtime_check_of(), which this walk may have called for the function before. */
static __always_inline __u64 known_check(struct runtime_walk *w, struct runtime_recipe *recipe)
{
	__u64 index = w->function >> 4 ^ w->function >> 9 ^ w->owner >> 3;
	struct runtime_seen *seen;

	asm volatile("" : "+r"(index));
	index &= RUNTIME_SEEN - 1;
	seen = &w->seen[index];
	if (seen->walk == w->walk && seen->function == w->function && seen->owner == w->owner) {
		w->is_native = seen->is_native;
		return seen->check;
	}
	seen->walk = w->walk;
	seen->function = w->function;
	seen->owner = w->owner;
	if (recipe->sections.exists && w->owner)
		seen->check = runtime_text_check_of(w, recipe);
	else
		seen->check = runtime_check_of(w, recipe);
	seen->is_native = w->is_native;
	meet(w, seen->check);
	return seen->check;
}

#endif
