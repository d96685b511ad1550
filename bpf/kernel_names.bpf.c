/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Gets the kernel's name of an address. User space has mapped both variables. It writes the
 * address, runs the program and reads the name. It makes one request at a time.
 */
#include "bpf/kernel_types.h"

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* A symbol takes up to 511 bytes and a module's name 55; then two numbers, punctuation. */
#define KERNEL_NAME_BYTES 1024

__u64 kernel_name_address = 0;
char kernel_name[KERNEL_NAME_BYTES] = {};

/* Returns the size of the full name with its NUL, even if it was cut; or negative errno. */
SEC("syscall")
int name_kernel_address(void *context)
{
	static const char format[] = "%pS";
	__u64 address = kernel_name_address;

	return (int)bpf_snprintf(kernel_name, sizeof(kernel_name), format, &address,
				 sizeof(address));
}
