/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "state/process/cgroup_table.h"
#include "tests/unit/cases.h"

#define A16 "aaaaaaaaaaaaaaaa"
#define A   A16 A16 A16 A16

static int take(struct cgroup_table *table, uint64_t id, const char *path, const char *name,
		uint16_t flags)
{
	size_t path_bytes = strlen(path) + 1, name_bytes = strlen(name) + 1;
	AUTO_FREE struct jitbpf_cgroup *record =
		calloc(1, sizeof(*record) + path_bytes + name_bytes);

	assert_non_null(record);
	record->h.size_bytes = (uint32_t)(sizeof(*record) + path_bytes + name_bytes);
	record->h.type = JITBPF_CGROUP;
	record->h.flags = flags;
	record->cgroup = id;
	memcpy(record->strings, path, path_bytes);
	memcpy(record->strings + path_bytes, name, name_bytes);
	return cgroup_table_take(table, record);
}

CASE(test_names)
{
	CLEANUP(cgroup_table_deinit) struct cgroup_table table = {0};
	const struct known_cgroup *found;

	assert_null(cgroup_table_find(&table, 1));
	assert_int_equal(take(&table, 1, "/", "", 0), 0);
	assert_int_equal(take(&table, 2, "/system.slice/docker-" A ".scope", "", 0), 0);
	assert_int_equal(take(&table, 3, "/system.slice/docker-" A ".scope", "web", 0), 0);
	assert_int_equal(take(&table, 4, "/system.slice/cron.service", "", 0), 0);
	assert_int_equal(take(&table, 5, "/bench/a", "", 0), 0);
	found = cgroup_table_find(&table, 1);
	assert_string_equal(found->container, "");
	assert_string_equal(found->unit, "/");
	found = cgroup_table_find(&table, 2);
	assert_string_equal(found->container, "aaaaaaaaaaaa");
	assert_string_equal(found->unit, found->path);
	assert_string_equal(cgroup_table_find(&table, 3)->container, "web");
	found = cgroup_table_find(&table, 4);
	assert_string_equal(found->container, "");
	assert_string_equal(found->unit, "cron.service");
	assert_string_equal(cgroup_table_find(&table, 5)->unit, "/bench/a");
}

#define OF_USER "/user.slice/user-7.slice/user@7.service"

/* A user names units and containers as the system's: the labels tell them apart. */
CASE(test_labels_of_delegated_cgroups)
{
	CLEANUP(cgroup_table_deinit) struct cgroup_table table = {0};

	assert_int_equal(take(&table, 1, "/system.slice/cron.service", "", 0), 0);
	assert_int_equal(take(&table, 2, OF_USER "/cron.service", "", 0), 0);
	assert_int_equal(take(&table, 3, "/system.slice/docker-" A ".scope", "web", 0), 0);
	assert_int_equal(take(&table, 4, OF_USER "/docker-" A ".scope", "web", 0), 0);
	assert_int_equal(take(&table, 5, OF_USER "/docker-" A ".scope", "", 0), 0);
	assert_string_equal(cgroup_table_find(&table, 1)->unit, "cron.service");
	assert_string_equal(cgroup_table_find(&table, 2)->unit, "user@7.service/cron.service");
	assert_string_equal(cgroup_table_find(&table, 3)->container, "web");
	assert_string_equal(cgroup_table_find(&table, 4)->container, "web (user@7.service)");
	assert_string_equal(cgroup_table_find(&table, 5)->container,
			    "aaaaaaaaaaaa (user@7.service)");
}

CASE(test_matches)
{
	static const struct {
		const char *wanted, *path, *name;
		bool is_of;
	} cases[] = {
		{"host", "/", "", true},
		{"host", "/a", "", false},
		{"/", "/", "", true},
		{"web", "/docker/" A, "web", true},
		{"web", "/docker/" A, "", false},
		{"aaaa", "/docker/" A, "web", true},
		{"aaa", "/docker/" A, "web", false},
		{A, "/docker/" A, "", true},
		{A "a", "/docker/" A, "", false},
		{"", "/docker/" A, "", false},
		{"web-1/server", "/docker/" A, "web-1/server", true},
		{"web-1", "/docker/" A, "web-1/server", true},
		{"server", "/docker/" A, "web-1/server", true},
		{"web", "/docker/" A, "web-1/server", false},
		{"", "/docker/" A, "/", false},
		{"cron", "/system.slice/cron.service", "", true},
		{"cron.service", "/system.slice/cron.service", "", true},
		{"system", "/system.slice/cron.service", "", true},
		{"cro", "/system.slice/cron.service", "", false},
		{"cron", "/system.slice/docker-" A ".scope/cron.service", "web", false},
		{"cron.service", OF_USER "/cron.service", "", false},
		{"user@7.service/cron.service", OF_USER "/cron.service", "", true},
		{OF_USER "/cron.service", OF_USER "/cron.service", "", true},
		{"user@7", OF_USER "/cron.service", "", true},
		{"web", OF_USER "/libpod-" A ".scope", "web", true},
		{"web (user@7.service)", OF_USER "/libpod-" A ".scope", "web", true},
		{"/bench/a", "/bench/a", "", true},
		{"box", "/lxc.payload.box/init.scope", "", true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(cgroup_table_deinit) struct cgroup_table table = {0};

		assert_int_equal(take(&table, 1, cases[i].path, cases[i].name, 0), 0);
		assert_int_equal(known_cgroup_is_of(cgroup_table_find(&table, 1), cases[i].wanted),
				 cases[i].is_of);
	}
}

CASE(test_changes)
{
	CLEANUP(cgroup_table_deinit) struct cgroup_table table = {0};
	uint64_t version;

	for (uint64_t id = 1; id <= 100; id++) {
		char path[16];

		snprintf(path, sizeof(path), "/%u", (unsigned int)id);
		assert_int_equal(take(&table, id, path, "", 0), 0);
	}
	version = table.version;
	assert_int_equal(take(&table, 1, "", "", JITBPF_CGROUP_GONE), 0);
	assert_int_equal(take(&table, 1000, "", "", JITBPF_CGROUP_GONE), 0);
	assert_int_equal(take(&table, 7, "/other", "", 0), 0);
	assert_true(table.version > version);
	assert_null(cgroup_table_find(&table, 1));
	assert_string_equal(cgroup_table_find(&table, 7)->path, "/other");
	assert_string_equal(cgroup_table_find(&table, 100)->path, "/100");
	for (uint64_t id = 1; id <= 100; id++)
		assert_int_equal(take(&table, id, "", "", JITBPF_CGROUP_GONE), 0);
	assert_int_equal(table.cgroups.size, 0);
	assert_int_equal(table.bytes, 0);
}

CASE(test_memory_is_bounded)
{
	CLEANUP(cgroup_table_deinit) struct cgroup_table table = {0};
	static char path[JITBPF_CGROUP_PATH_MAX];
	uint64_t id = 1;

	memset(path, '/', sizeof(path) - 1);
	while (!take(&table, id, path, "", 0))
		id++;
	assert_int_equal(take(&table, id, path, "", 0), -EDQUOT);
	assert_true(table.bytes <= CGROUP_TABLE_BYTES);
	assert_in_range(id, 1000, CGROUP_TABLE_BYTES / sizeof(path));
	/* A known one is forgotten if what replaces it has no room. */
	assert_int_equal(take(&table, 1, "", "", JITBPF_CGROUP_GONE), 0);
	assert_int_equal(take(&table, id, path, "", 0), 0);
}
