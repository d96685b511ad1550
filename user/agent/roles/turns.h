/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Turns of a process on a busy CPU. From Linux 6.12 on, a process that asks for short turns waits
 * less for each, and gets no more CPU time. A name or a recipe takes several processes, one after
 * the other, each of which works for microseconds. With the kernel's turns of milliseconds, each of
 * them would wait as long behind the programs that are profiled.
 */
#ifndef JITBPF_AGENT_ROLES_TURNS_H
#define JITBPF_AGENT_ROLES_TURNS_H

/* Ask for short turns of this thread, and of those that it makes. Older kernels ignore it. */
void turns_shorten(void);

#endif
