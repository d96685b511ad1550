/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a Java method: HotSpot's Method, and what it leads to. */
#ifndef JITBPF_RUNTIMES_HOTSPOT_HOTSPOT_METHOD_H
#define JITBPF_RUNTIMES_HOTSPOT_HOTSPOT_METHOD_H

#include "runtimes/hotspot/hotspot_tables.h"
#include "runtimes/runtime_reader.h"

/* The most that reading a method costs, whatever the process has written. */
#define HOTSPOT_METHOD_READS_MAX 64
#define HOTSPOT_METHOD_BYTES_MAX (128u << 10)

/*
 * What identifies a method, for recipes: where it has its ConstMethod, constants, class and the
 * class's name; sizes and indexes of the ConstMethod; and the hash of the name, a random number
 * that HotSpot gives to each of its strings. So a method that takes the place of one that was
 * unloaded has another check, also if its class has the same shape.
 */
struct runtime_check hotspot_method_check(const struct hotspot_layout *layout);

/*
 * As struct runtime_reader's function(). Names are "pkg.Class.method", as the agent for Java writes
 * them; a hidden class is "pkg.Class/0x12". The file is the path below the root of the source tree.
 * Positions of frames are pointers to bytecodes.
 */
int hotspot_method_read(const struct process_memory *memory, const struct hotspot_layout *layout,
			const struct runtime_check *check, uint64_t method,
			struct runtime_function *ret);

/* The same, without a check: the caller knows that the method is the one that it means. */
int hotspot_method_describe(const struct process_memory *memory,
			    const struct hotspot_layout *layout, uint64_t method,
			    struct runtime_function *ret);

/*
 * Check a layout with the class java.lang.Object: it has its name, and methods that lead back to
 * it. Returns 0; -ENODATA if there is no such class yet; -EBADMSG; or the error of the memory.
 */
int hotspot_layout_check(const struct process_memory *memory, const struct hotspot_layout *layout,
			 uint64_t object_class);

#endif
