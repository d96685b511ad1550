/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/ledger.h"

uint64_t ledger_taken(const struct ledger *ledger)
{
	uint64_t taken = 0;

	for (int i = 0; i < FATE_COUNT; i++)
		taken += ledger->fate[i];
	return taken;
}
