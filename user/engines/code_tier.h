/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a piece of code was made of its function. A function can have code of several tiers: a method
 * that a virtual machine first interprets and then compiles, a function whose unlikely branches the
 * compiler moved elsewhere.
 */
#ifndef JITBPF_ENGINES_CODE_TIER_H
#define JITBPF_ENGINES_CODE_TIER_H

#include <stdint.h>

/* A new tier is an enumerator, a row in code_tier.c and one in user/sink/page/kinds.ts. */
enum code_tier {
	CODE_TIER_PLAIN, /* the whole function, or not known */
	CODE_TIER_INTERPRETED,
	CODE_TIER_BASELINE,  /* compiled fast, hardly optimized */
	CODE_TIER_MIDDLE,    /* optimized fast */
	CODE_TIER_OPTIMIZED, /* with more time, for code that runs often */
	CODE_TIER_TRACE,     /* a path through the function and what it calls */
	CODE_TIER_GENERATED, /* made by the runtime, to call other code */
	CODE_TIER_CLONE,     /* specialized for some callers */
	CODE_TIER_PART,	     /* a part that others do not inline */
	CODE_TIER_COLD,	     /* the part that is unlikely to run */
	CODE_TIER_INLINED,   /* inlined into another function */
	CODE_TIER_COMPILED,  /* compiled, by which compiler is not known */
};

#define CODE_TIER_COUNT (CODE_TIER_COMPILED + 1)

/* Returns the word for a tier, as outputs show it; "" for CODE_TIER_PLAIN and other numbers. */
const char *code_tier_word(uint32_t tier);

#endif
