/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part of the JIT Profiling API that xbyak uses: an engine's copy of the
 * loader, which finds the collector and numbers methods from 1.
 */
#ifndef JITBPF_WORKLOADS_JITPROFILING_H
#define JITBPF_WORKLOADS_JITPROFILING_H

#include <cstdlib>
#include <dlfcn.h>

enum iJIT_IsProfilingActiveFlags { iJIT_NOTHING_RUNNING = 0, iJIT_SAMPLING_ON = 1 };
enum iJIT_JVM_EVENT { iJVM_EVENT_TYPE_METHOD_LOAD_FINISHED = 13 };

struct iJIT_Method_Load {
	unsigned int method_id;
	char *method_name;
	void *method_load_address;
	unsigned int method_size;
	unsigned int line_number_size;
	void *line_number_table;
	unsigned int class_id;
	char *class_file_name;
	char *source_file_name;
};

static_assert(sizeof(iJIT_Method_Load) == 64, "ABI");

struct jit_collector {
	int (*notify)(unsigned int event, void *data) = nullptr;
	unsigned int mode = iJIT_NOTHING_RUNNING;

	jit_collector()
	{
		const char *path = getenv("INTEL_JIT_PROFILER64");
		void *library = path ? dlopen(path, RTLD_LAZY) : nullptr;
		unsigned int (*initialize)();

		if (!library)
			return;
		notify = reinterpret_cast<decltype(notify)>(dlsym(library, "NotifyEvent"));
		initialize = reinterpret_cast<decltype(initialize)>(dlsym(library, "Initialize"));
		if (notify && initialize)
			mode = initialize();
	}
};

static inline jit_collector &the_jit_collector()
{
	static jit_collector collector;
	return collector;
}

static inline iJIT_IsProfilingActiveFlags iJIT_IsProfilingActive()
{
	return static_cast<iJIT_IsProfilingActiveFlags>(the_jit_collector().mode);
}

static inline unsigned int iJIT_GetNewMethodID()
{
	static unsigned int last;
	return ++last;
}

static inline int iJIT_NotifyEvent(iJIT_JVM_EVENT event, void *data)
{
	return the_jit_collector().notify(event, data);
}

#endif
