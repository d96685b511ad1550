/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/server/server_http.h"

#include <dlfcn.h>
#include <errno.h>

struct server_http http;

int server_http_load(void)
{
	void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return -ENOSYS;
#define HTTP_LOOK_UP(name)                                                                         \
	http.name = (__typeof__(http.name))dlsym(library, "MHD_" #name);                           \
	if (!http.name)                                                                            \
		return -ENOSYS;
	HTTP_FUNCTIONS(HTTP_LOOK_UP)
	return 0;
}
