/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * embed SCRIPT [ARGUMENT...]: runs a script of PHP by libphp, in a second thread if that supports
 * threads (ZTS). The declarations are those of PHP's headers, which need not be installed.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

int php_embed_init(int argc, char **argv);
int php_request_startup(void);
int zend_eval_string(const char *code, void *value, const char *name);

#define CODE_BYTES 4096

static char code[CODE_BYTES];

static void *run(void *start_thread)
{
	void *(*ts_resource_ex)(int *) = start_thread;

	if (ts_resource_ex) {
		ts_resource_ex(NULL);
		php_request_startup();
	}
	zend_eval_string(code, NULL, "embedded");
	return NULL;
}

int main(int argc, char **argv)
{
	void *ts_resource_ex = dlsym(RTLD_DEFAULT, "ts_resource_ex");
	pthread_t thread;

	snprintf(code, sizeof(code), "$argv = explode(' ', '");
	for (int i = 1; i < argc; i++)
		snprintf(code + strlen(code), sizeof(code) - strlen(code), "%s%s", argv[i],
			 i + 1 < argc ? " " : "'); require $argv[0];");
	php_embed_init(1, argv);
	if (!ts_resource_ex)
		return run(NULL) != NULL;
	pthread_create(&thread, NULL, run, ts_resource_ex);
	return pthread_join(thread, NULL);
}
