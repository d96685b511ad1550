/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engines/go_runtime.h"

#include <string.h>

#include "base/scope.h"
#include "base/text.h"

#define SYSTEMSTACK "runtime.systemstack"

const char *const go_sections[] = {".gopclntab", ".data.rel.ro.gopclntab", ".go.buildinfo", NULL};

static const struct {
	const char *name;
	enum go_role role;
} functions[] = {
	/* A goroutine's first function returns to goexit; a thread of the runtime begins at mstart.
	 */
	{"runtime.goexit", GO_FIRST},
	{"runtime.mstart", GO_FIRST},
	{"runtime.rt0_go", GO_FIRST},
	{"_rt0_amd64", GO_FIRST},
	{"_rt0_amd64_linux", GO_FIRST},
	{SYSTEMSTACK, GO_SWITCHES},
	{"runtime.asmcgocall", GO_SWITCHES},
	{"runtime.asmcgocall_no_g", GO_SWITCHES},
	{"runtime.cgocallback", GO_SWITCHES},
	{"runtime.callCgoMmap", GO_SWITCHES},
	{"runtime.callCgoMunmap", GO_SWITCHES},
	{"runtime.callCgoSigaction", GO_SWITCHES},
	/* These call the vDSO. */
	{"runtime.nanotime1", GO_SWITCHES},
	{"runtime.walltime", GO_SWITCHES},
	{"runtime.walltime1", GO_SWITCHES},
	{"runtime.vgetrandom1", GO_SWITCHES},
	{"time.now", GO_SWITCHES},
	/* Its function never returns: it resumes a goroutine, often another one. */
	{"runtime.mcall", GO_STARTS},
	{"runtime.morestack", GO_STOPS},
	{"runtime.gogo", GO_LEAVES},
	{"gogo", GO_LEAVES},
	{"gogo<>", GO_LEAVES},
};

/* Assembly functions have ".abi0" or ".abiinternal" behind their names. */
static bool is_name(const char *name, const char *wanted)
{
	size_t length = strlen(wanted);

	return begins_with(name, wanted) && (!name[length] || begins_with(name + length, ".abi"));
}

enum go_role go_role_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		if (is_name(name, functions[i].name))
			return functions[i].role;
	}
	return GO_ORDINARY;
}

bool go_is_systemstack(const char *name)
{
	return is_name(name, SYSTEMSTACK);
}
