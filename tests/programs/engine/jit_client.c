/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/programs/engine/jit_client.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool jit_client_open(struct jit_client *client)
{
	const char *path = getenv("INTEL_JIT_PROFILER64");
	void *library;

	client->mode = 0;
	if (!path || !*path)
		return false;
	library = dlopen(path, RTLD_LAZY);
	if (!library) {
		fprintf(stderr, "jit-engine: %s\n", dlerror());
		return false;
	}
	*(void **)&client->notify = dlsym(library, "NotifyEvent");
	*(void **)&client->initialize = dlsym(library, "Initialize");
	if (!client->notify || !client->initialize) {
		fprintf(stderr, "jit-engine: %s: not a collector\n", path);
		dlclose(library);
		return false;
	}
	client->mode = client->initialize();
	return client->mode == JIT_SAMPLING_ON;
}

jit_second_fn jit_client_second(const struct jit_client *client)
{
	static const char name[] = "libsecond-engine.so";
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - sizeof(name));
	unsigned int (*open)(unsigned int (*initialize)(void)) = NULL;
	jit_second_fn second = NULL;
	void *library;

	while (n > 0 && path[n - 1] != '/')
		n--;
	if (n <= 0)
		return NULL;
	memcpy(path + n, name, sizeof(name));
	library = dlopen(path, RTLD_NOW);
	if (library) {
		*(void **)&second = dlsym(library, "second_engine_notify");
		*(void **)&open = dlsym(library, "second_engine_open");
	}
	if (!second || !open)
		fprintf(stderr, "jit-engine: %s\n", dlerror());
	else if (client->initialize)
		open(client->initialize);
	return second;
}
