/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>
#include <string.h>
#include <stdio.h>

#include "agent/jvm/jvm_status.h"
#include "tests/unit/cases.h"

#define UID(ids)    "Name:\tjava\nUid:\t" ids "\n"
#define GID(ids)    "Gid:\t" ids "\n"
#define NSPID(pids) "NSpid:\t" pids "\n"
#define CAUGHT(set) "SigIgn:\t0000000000000004\nSigCgt:\t" set "\n"

CASE(test_jvm)
{
	struct jvm_status status;

	assert_int_equal(jvm_status_parse(UID("1\t1\t1\t1") GID("2\t2\t2\t2") NSPID("4711\t12\t1")
						  CAUGHT("0000000101005ccf"),
					  &status),
			 0);
	assert_int_equal(status.inner_pid, 1);
	assert_int_equal(status.uid, 1);
	assert_int_equal(status.gid, 2);
	assert_true(status.one_identity && status.catches_quit);
}

CASE(test_others)
{
	struct jvm_status status;

	/* All but SIGQUIT is caught. */
	assert_int_equal(jvm_status_parse(UID("1\t1\t1\t1") GID("2\t2\t2\t2") NSPID("4711")
						  CAUGHT("fffffffffffffffb"),
					  &status),
			 0);
	assert_int_equal(status.inner_pid, 4711);
	assert_false(status.catches_quit);
	assert_int_equal(jvm_status_parse(UID("1\t0\t0\t0") GID("2\t2\t2\t2") NSPID("4711")
						  CAUGHT("4"),
					  &status),
			 0);
	assert_false(status.one_identity);
	assert_int_equal(jvm_status_parse(UID("1\t1\t1\t1") GID("2\t2\t2\t3") NSPID("4711")
						  CAUGHT("4"),
					  &status),
			 0);
	assert_false(status.one_identity);
}

CASE(test_states)
{
	static const char others[] = UID("1\t1\t1\t1") GID("1\t1\t1\t1") NSPID("1") CAUGHT("4");
	struct jvm_status status;
	char text[512];

	for (const char *letter = "RSDTtZX"; *letter; letter++) {
		snprintf(text, sizeof(text), "Name:\tT\nState:\t%c (state)\n%s", *letter, others);
		assert_int_equal(jvm_status_parse(text, &status), 0);
		assert_int_equal(status.stopped, strchr("DTt", *letter) != NULL);
		assert_int_equal(status.ended, *letter == 'Z' || *letter == 'X');
	}
}

/* As of a process that ends. */
CASE(test_cut)
{
	struct jvm_status status;

	assert_int_equal(jvm_status_parse("", &status), -EBADMSG);
	assert_int_equal(
		jvm_status_parse(UID("1\t1\t1\t1") GID("2\t2\t2\t2") NSPID("4711"), &status),
		-EBADMSG);
	assert_int_equal(jvm_status_parse(UID("1\t1\t1") GID("2\t2\t2\t2") NSPID("4711")
						  CAUGHT("4"),
					  &status),
			 -EBADMSG);
	assert_int_equal(jvm_status_parse(UID("1\t1\t1\t1") GID("2\t2\t2\t2") CAUGHT("4"), &status),
			 -EBADMSG);
}

CASE(test_root_of_namespace)
{
	assert_int_equal(jvm_root_parse("         0          0 4294967295\n"), 0);
	assert_int_equal(jvm_root_parse("0 100000 65536\n"), 100000);
	assert_int_equal(jvm_root_parse("1000 7 1\n0 61234 1\n"), 61234);
	assert_int_equal(jvm_root_parse("1000 61234 1\n"), JVM_NO_USER);
	assert_int_equal(jvm_root_parse("0 100000 0\n"), JVM_NO_USER);
	assert_int_equal(jvm_root_parse("0 1000"), JVM_NO_USER);
	assert_int_equal(jvm_root_parse(""), JVM_NO_USER);
}
