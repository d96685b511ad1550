/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Another engine in the process, as far as a collector can tell: its events are
 * sent from this library. Built so that the call leaves its return address.
 */
unsigned int second_engine_notify(unsigned int (*notify)(unsigned int event, void *data),
				  unsigned int event, void *data);

unsigned int second_engine_notify(unsigned int (*notify)(unsigned int event, void *data),
				  unsigned int event, void *data)
{
	return notify(event, data);
}
