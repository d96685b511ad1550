/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Facts about the kernel for loading BPF programs, found once for all objects: its types, and its
 * features, which are tried. While the types are open, libbpf handles the section
 * JITBPF_TASK_ITERATOR.
 */
#ifndef JITBPF_AGENT_KERNEL_BPF_PROGRAM_TYPES_H
#define JITBPF_AGENT_KERNEL_BPF_PROGRAM_TYPES_H

#include <bpf/libbpf.h>
#include <stdbool.h>

struct program_types {
	int fd;		   /* of the reduced types; -1: none */
	int handler;	   /* libbpf's, of the section; negative: none */
	bool uprobe_multi; /* there are links of this kind */
	/* Programs of perf events may use hash maps that are not preallocated (from Linux 6.1). */
	bool hashes_on_demand;
};

#define PROGRAM_TYPES_NONE ((struct program_types){.fd = -1, .handler = -1})

/*
 * Returns 0 or a negative errno; *ret is unchanged then. The owner closes it after the last object
 * is loaded.
 */
int program_types_open(struct program_types *ret);
void program_types_close(struct program_types *types);

/* An object of BPF programs: the functions of its skeleton. See DEFINE_PROGRAM_OBJECT(). */
struct program_object {
	void *(*open)(const struct bpf_object_open_opts *opts);
	int (*prepare)(void *skeleton, void *context); /* before it is loaded */
	int (*load)(void *skeleton);
	void (*destroy)(void *skeleton);
};

/*
 * Open, prepare and load an object with the reduced types and, if this version of libbpf refuses
 * them, again with all types of the kernel, which is only slower. *ret is the skeleton. Returns 0
 * or a negative errno.
 */
int program_types_load(const struct program_types *types, const struct program_object *object,
		       void *context, void **ret);

/* Defines `const struct program_object NAME_object`; it has `prepare`. */
#define DEFINE_PROGRAM_OBJECT(name, prepare_)                                                      \
	static void *name##_open_(const struct bpf_object_open_opts *opts)                         \
	{                                                                                          \
		return name##__open_opts(opts);                                                    \
	}                                                                                          \
	static int name##_load_(void *skeleton)                                                    \
	{                                                                                          \
		return name##__load(skeleton);                                                     \
	}                                                                                          \
	static void name##_destroy_(void *skeleton)                                                \
	{                                                                                          \
		name##__destroy(skeleton);                                                         \
	}                                                                                          \
	static const struct program_object name##_object = {name##_open_, prepare_, name##_load_,  \
							    name##_destroy_}

#endif
