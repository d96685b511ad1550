/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/probe_site.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/files/helper/file_blob.h"
#include "base/path.h"
#include "base/scope.h"
#include "decode/elf/elf_file.h"

static const uint8_t site_code[PROBE_SITE_BYTES] = {
	0x90,					     /* nop1 */
	0x0f, 0x1f, 0x44, 0x00, 0x00,		     /* nop5 */
	0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, /* nop10 */
	0xc3,					     /* ret */
};

int probe_site_read(const struct blob *blob, struct probe_site *ret)
{
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};
	uint8_t code[PROBE_SITE_BYTES];
	struct elf_probe probe;
	int err;

	err = elf_file_init(&elf, blob);
	err = err ?: elf_file_probe(&elf, "jitbpf", "event", &probe);
	err = err ?: blob_read(blob, probe.offset, code, sizeof(code));
	if (err == -ENOENT || err == -EBADMSG)
		return -ENOEXEC;
	if (err)
		return err;
	if (memcmp(code, site_code, sizeof(code)) != 0 || !probe.semaphore_offset)
		return -ENOEXEC;
	*ret = (struct probe_site){
		.offset = probe.offset,
		.semaphore_offset = probe.semaphore_offset,
	};
	return 0;
}

static int read_site(const char *path, struct probe_site *ret)
{
	CLEANUP(blob_close) struct blob blob = {0};
	struct probe_site site;
	int err = file_blob_open_path(&blob, path);

	err = err ?: probe_site_read(&blob, &site);
	if (err)
		return err;
	if (!realpath(path, site.path))
		return -errno;
	*ret = site;
	return 0;
}

int probe_site_find(const char *path, struct probe_site *ret)
{
	/* in the folder of a build, and as `make install` has it */
	static const char *const beside[] = {"libjitbpf.so",
					     "../lib/" JITBPF_MULTIARCH "/jitbpf/libjitbpf.so",
					     "../lib/jitbpf/libjitbpf.so"};
	char self[PATH_MAX], candidate[PATH_MAX + 64];
	ssize_t size;
	int err;

	if (path)
		return read_site(path, ret);
	size = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (size < 0)
		return -errno;
	self[size] = 0;
	self[path_file(self) - self] = 0;
	for (size_t i = 0; i < ARRAY_SIZE(beside); i++) {
		snprintf(candidate, sizeof(candidate), "%s%s", self, beside[i]);
		err = read_site(candidate, ret);
		if (err != -ENOENT)
			return err;
	}
	return -ENOENT;
}

int probe_site_find_jvm_agent(const struct probe_site *shim, struct probe_site *ret)
{
	char path[sizeof(shim->path)];
	int folder_bytes = (int)(path_file(shim->path) - shim->path);

	if (snprintf(path, sizeof(path), "%.*slibjitbpf-jvmti.so", folder_bytes, shim->path) >=
	    (int)sizeof(path))
		return -ENOENT;
	return read_site(path, ret);
}
