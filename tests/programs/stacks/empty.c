/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The library that calls.c uses. */
void empty(void);

void empty(void)
{
	__asm__ volatile("");
}
