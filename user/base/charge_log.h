/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which charges to budgets were refused while one record was applied. A replay of the record, whose
 * budgets have other limits and other users, refuses the same ones.
 *
 * A bit per charge, in their order. The last bit stands for all later charges.
 */
#ifndef JITBPF_BASE_CHARGE_LOG_H
#define JITBPF_BASE_CHARGE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#define CHARGE_LOG_BITS 7

/* Zero-initialized, nothing is to be refused. */
struct charge_log {
	uint32_t charges; /* so far, at most CHARGE_LOG_BITS - 1 */
	uint32_t refuse;  /* the charges to refuse */
	uint32_t refused; /* those that were refused */
};

/* Begin a record, of which the charges `refuse` are to be refused. */
static inline void charge_log_begin(struct charge_log *log, uint32_t refuse)
{
	*log = (struct charge_log){.refuse = refuse};
}

/* Returns true if the next charge is to be refused. */
static inline bool charge_log_refuses(const struct charge_log *log)
{
	return log->refuse >> log->charges & 1;
}

/* Note the result of a charge. */
static inline void charge_log_note(struct charge_log *log, bool refused)
{
	log->refused |= (uint32_t)refused << log->charges;
	if (log->charges < CHARGE_LOG_BITS - 1)
		log->charges++;
}

#endif
