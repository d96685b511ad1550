/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The service loop of an attacher process, and its messages (attacher.h). Probes are registered
 * when the gate of lock_holders.h is open, and removed when it is quiet, one at a time. This also
 * holds at the end of the run: the process outlives jitbpf until its probes are removed one at a
 * time. If it exited with probes, all forks would wait for the exit.
 */
#ifndef JITBPF_AGENT_KERNEL_PROBES_ATTACH_SERVICE_H
#define JITBPF_AGENT_KERNEL_PROBES_ATTACH_SERVICE_H

#include <stdint.h>

enum attach_kind {
	ATTACH_GATE,  /* descriptor: the link of find_lock_holders(). Has no reply */
	ATTACH_TYPES, /* descriptor: of struct program_types. Has no reply */
	ATTACH_PROBE, /* descriptors: the file, the program */
	ATTACH_CPU,
	ATTACH_REMOVE, /* has no reply */
	ATTACH_KEEP,   /* descriptor: of a struct uprobe, to be closed at the end. Has no reply */
};

/* Fields that a kind does not use are 0. */
struct attach_request {
	uint32_t kind, id;
	uint64_t offset, semaphore_offset, cookie;
	uint32_t cpu, freq_hz, hardware, ring_bytes;
	uint32_t checks_file,
		unused; /* refuse a file that file_system_allows_probe() does not allow */
};

struct attach_reply {
	uint32_t id;
	int32_t err; /* -EINPROGRESS: the gate is closed; another reply follows. May be repeated */
	uint64_t attached_ns;
	uint32_t holder_pid, holder_uid; /* with -EINPROGRESS */
};

/* Answer requests from a socket until its other end is closed. */
void attach_service_run(int socket);

#endif
