/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * HotSpot's compressed numbers (UNSIGNED5): 32 bits in 1 to 5 bytes. Bytes of the upper 64 values
 * continue a number.
 */
#ifndef JITBPF_RUNTIMES_HOTSPOT_HOTSPOT_NUMBERS_H
#define JITBPF_RUNTIMES_HOTSPOT_HOTSPOT_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

struct hotspot_numbers {
	const uint8_t *at, *end;
	uint32_t excluded; /* bytes below it are not used: 1 since Java 20, before that 0 */
};

#define HOTSPOT_NUMBER_BYTES	 5
#define HOTSPOT_NUMBER_HIGH_BITS 6

/* Returns false if there is no whole number. */
static inline bool hotspot_number_read(struct hotspot_numbers *in, uint32_t *ret)
{
	uint32_t low = 256 - in->excluded - (1u << HOTSPOT_NUMBER_HIGH_BITS), sum = 0;

	for (uint32_t i = 0; i < HOTSPOT_NUMBER_BYTES; i++) {
		uint32_t byte;

		if (in->at == in->end || *in->at < in->excluded)
			return false;
		byte = *in->at++ - in->excluded;
		sum += byte << (HOTSPOT_NUMBER_HIGH_BITS * i);
		if (byte < low)
			break;
	}
	*ret = sum;
	return true;
}

#endif
