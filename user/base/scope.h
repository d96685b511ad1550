/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Scope guards: a variable marked with CLEANUP() or an AUTO_ macro is released
 * when it leaves its scope. TAKE_PTR() and TAKE_FD() transfer ownership out of
 * it.
 */
#ifndef JITBPF_BASE_SCOPE_H
#define JITBPF_BASE_SCOPE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CLEANUP(fn) __attribute__((cleanup(fn)))

/* Define fn##p(), for CLEANUP(), to call fn() on a variable that is not NULL. */
#define DEFINE_CLEANUP(type, fn)                                                                   \
	static inline void fn##p(type *p)                                                          \
	{                                                                                          \
		if (*p)                                                                            \
			fn(*p);                                                                    \
	}                                                                                          \
	struct scope_h_semicolon

static inline void scope_free(void *p)
{
	free(*(void **)p);
}

static inline void scope_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void scope_fclose(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define AUTO_FREE   CLEANUP(scope_free)
#define AUTO_CLOSE  CLEANUP(scope_close)
#define AUTO_FCLOSE CLEANUP(scope_fclose)

#define TAKE_PTR(p)                                                                                \
	({                                                                                         \
		__typeof__(p) take_ptr_ = (p);                                                     \
		(p) = NULL;                                                                        \
		take_ptr_;                                                                         \
	})

#define TAKE_FD(fd)                                                                                \
	({                                                                                         \
		int take_fd_ = (fd);                                                               \
		(fd) = -1;                                                                         \
		take_fd_;                                                                          \
	})

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
