/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A second engine in the process, from the collector's point of view: its
 * calls come from this library. Built without tail calls, so that each call
 * has a return address here.
 */
unsigned int second_engine_open(unsigned int (*initialize)(void));
unsigned int second_engine_notify(unsigned int (*notify)(unsigned int event, void *data),
				  unsigned int event, void *data);

unsigned int second_engine_open(unsigned int (*initialize)(void))
{
	return initialize();
}

unsigned int second_engine_notify(unsigned int (*notify)(unsigned int event, void *data),
				  unsigned int event, void *data)
{
	return notify(event, data);
}
