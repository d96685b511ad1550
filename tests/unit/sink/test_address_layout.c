/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/unit/sink/made_view.h"

#include "base/scope.h"
#include "sink/address_layout.h"
#include "tests/unit/cases.h"

#define GIB4 (1ull << 32)

/* Returns the module of a file, identified by its inode. */
static uint32_t made_module(struct made_view *m, const char *path, uint64_t inode)
{
	AUTO_FREE struct jitbpf_mapping *mapping = calloc(1, sizeof(*mapping) + strlen(path) + 1);
	const struct module *module;

	assert_non_null(mapping);
	mapping->inode = inode;
	strcpy(mapping->path, path);
	assert_int_equal(module_table_add(&m->modules, mapping, (struct owner_key){0}, &module), 0);
	return module->number;
}

/* All nodes, with their own samples. */
static void build(struct made_view *m, struct address_layout *layout)
{
	size_t count = m->profile.nodes.size;
	AUTO_FREE uint64_t *totals = calloc(count + 1, sizeof(*totals));

	assert_non_null(totals);
	for (size_t i = count; i--;) {
		totals[i] += m->profile.nodes.data[i].self;
		if (m->profile.nodes.data[i].parent != PROFILE_NODE_NONE)
			totals[m->profile.nodes.data[i].parent] += totals[i];
	}
	assert_int_equal(address_layout_build(layout, &m->view, totals), 0);
}

/* Returns the address of a location, which must lie in its range. */
static uint64_t address_of(const struct made_view *m, const struct address_layout *layout,
			   uint32_t location, uint32_t *ret_range)
{
	uint64_t address;
	uint32_t number = address_layout_find(layout, &m->view, location, &address);

	if (number != ADDRESS_LAYOUT_NONE) {
		const struct address_range *range = &layout->ranges.data[number];

		assert_true(range->start <= address && address < range->limit);
		assert_int_equal(range->start % 4096, 0);
		assert_int_equal(range->limit % 4096, 0);
		assert_int_equal(range->file_offset % 4096, 0);
	}
	*ret_range = number;
	return address;
}

CASE(a_files_addresses_are_its_offsets)
{
	CLEANUP(made_deinit) struct made_view m;
	CLEANUP(address_layout_deinit) struct address_layout layout = {0};
	static const uint64_t offsets[] = {0x123456, 0x7fffffff0, 0x1001};
	uint32_t modules[2], locations[2][3], ranges[2][3];

	made_init(&m);
	modules[0] = made_module(&m, "/lib/a.so", 1);
	modules[1] = made_module(&m, "/lib/a.so", 2); /* another file at the same path */
	for (int f = 0; f < 2; f++) {
		for (int i = 0; i < 3; i++)
			locations[f][i] =
				made_location(&m, LOCATION_NATIVE, modules[f], offsets[i]);
		made_stack(&m, 0, "p", 1, 3, locations[f]);
	}
	build(&m, &layout);
	assert_int_equal(layout.ranges.size, 2);
	for (int f = 0; f < 2; f++) {
		for (int i = 0; i < 3; i++) {
			uint64_t address = address_of(&m, &layout, locations[f][i], &ranges[f][i]);
			const struct address_range *range = &layout.ranges.data[ranges[f][i]];

			assert_int_equal(address - range->start + range->file_offset, offsets[i]);
			assert_int_equal((address - offsets[i]) % GIB4, 0);
			assert_string_equal(range->name, "/lib/a.so");
			assert_int_equal(range->module->number, modules[f]);
			assert_int_equal(range->file_offset, 0x1000);
			assert_int_equal(ranges[f][i], ranges[f][0]);
		}
	}
	assert_true(layout.ranges.data[0].limit <= layout.ranges.data[1].start);
}

CASE(regions_of_code_stand_apart)
{
	CLEANUP(made_deinit) struct made_view m;
	CLEANUP(address_layout_deinit) struct address_layout layout = {0};
	uint64_t addresses[6];
	uint32_t ranges[6], locations[6];

	made_init(&m);
	for (uint32_t i = 0; i < 6; i++) {
		struct frame frame;

		/* Two locations in each of three regions of two modules. */
		locations[i] = made_location(&m, LOCATION_JIT, 10 + i % 3, i < 3 ? 5 : 500);
		frame = made_frame(&m, FRAME_KIND_JIT, "f", i % 3 == 2 ? "engine.jit" : "[jit]");
		assert_int_equal(frame_table_set(m.frames, locations[i], &frame, 1), 0);
		made_stack(&m, 0, "p", 1, STACK(locations[i]));
	}
	build(&m, &layout);
	for (uint32_t i = 0; i < 6; i++)
		addresses[i] = address_of(&m, &layout, locations[i], &ranges[i]);
	assert_int_equal(layout.ranges.size, 2);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(addresses[i + 3] - addresses[i], 495);
		assert_int_equal(ranges[i], ranges[i + 3]);
		assert_true(ranges[i] == ranges[0] || i == 2);
		for (uint32_t k = 0; k < i; k++)
			assert_true(addresses[k + 3] < addresses[i] ||
				    addresses[i + 3] < addresses[k]);
	}
	assert_int_not_equal(ranges[2], ranges[0]);
	assert_string_equal(layout.ranges.data[ranges[2]].name, "engine.jit");
}

CASE(kernel_and_anonymous_code_stand_where_they_do)
{
	CLEANUP(made_deinit) struct made_view m;
	CLEANUP(address_layout_deinit) struct address_layout layout = {0};
	uint32_t image, module, code, anon, range;
	uint64_t address;
	struct kernel_code bpf = {.address = 0xffffffffc0001000};
	struct location made = {.kind = LOCATION_KERNEL_CODE, .owner = 3, .offset = 0x20};

	made_init(&m);
	image = made_named(&m, LOCATION_KERNEL, 0xffffffff81000123, "f", "[kernel.kallsyms]");
	module = made_named(&m, LOCATION_KERNEL, 0xffffffffffffffff, "g", "[mod]");
	anon = made_location(&m, LOCATION_ANON, 0, 0x7f0000000123);
	assert_int_equal(location_table_add(&m.locations, &made, &code), 0);
	m.locations.locations.data[code].code = &bpf.value;
	made_stack(&m, 0, "p", 1, STACK(image, module, code, anon));
	build(&m, &layout);
	assert_int_equal(layout.ranges.size, 3);
	assert_int_equal(address_of(&m, &layout, image, &range), 0xffffffff81000123);
	assert_string_equal(layout.ranges.data[range].name, "[kernel.kallsyms]");
	assert_int_equal(address_of(&m, &layout, code, &range), 0xffffffffc0001020);
	assert_string_equal(layout.ranges.data[range].name, "[kernel.kallsyms]");
	assert_int_equal(address_of(&m, &layout, anon, &range), 0x7f0000000123);
	assert_string_equal(layout.ranges.data[range].name, "//anon");
	assert_int_equal(layout.main, ADDRESS_LAYOUT_NONE);
	/* The last address has no limit after it. */
	range = address_layout_find(&layout, &m.view, module, &address);
	assert_int_equal(address, UINT64_MAX);
	assert_int_equal(layout.ranges.data[range].limit, UINT64_MAX);
	assert_string_equal(layout.ranges.data[range].name, "[mod]");
	m.locations.locations.data[code].code = NULL;
}

CASE(what_no_file_has_is_nowhere)
{
	CLEANUP(made_deinit) struct made_view m;
	CLEANUP(address_layout_deinit) struct address_layout layout = {0};
	uint32_t far_in_file, far_in_code, unknown, unused, range;

	made_init(&m);
	far_in_file = made_location(&m, LOCATION_NATIVE, 0, 1ull << 40);
	far_in_code = made_location(&m, LOCATION_JIT, 0, UINT64_MAX);
	unknown = made_location(&m, LOCATION_UNKNOWN, 0, 0x1234);
	unused = made_location(&m, LOCATION_NATIVE, 0, 1);
	made_stack(&m, 0, "p", 1, STACK(far_in_file, far_in_code, unknown, 0xffff));
	made_stack(&m, 0, "p", 0, STACK(unused));
	build(&m, &layout);
	assert_int_equal(layout.ranges.size, 0);
	assert_int_equal(address_of(&m, &layout, far_in_file, &range), 0);
	assert_int_equal(range, ADDRESS_LAYOUT_NONE);
	assert_int_equal(address_of(&m, &layout, far_in_code, &range), 0);
	assert_int_equal(range, ADDRESS_LAYOUT_NONE);
	assert_int_equal(address_of(&m, &layout, unknown, &range), 0x1234);
	assert_int_equal(range, ADDRESS_LAYOUT_NONE);
	assert_int_equal(address_of(&m, &layout, unused, &range), 0);
	assert_int_equal(address_of(&m, &layout, 0xffff, &range), 0);
	assert_int_equal(range, ADDRESS_LAYOUT_NONE);
}

/* Ranges do not overlap, however large their reported sizes are. */
CASE(large_regions_do_not_overlap)
{
	CLEANUP(made_deinit) struct made_view m;
	CLEANUP(address_layout_deinit) struct address_layout layout = {0};
	uint64_t last = 0, address;
	uint32_t range;

	made_init(&m);
	for (uint32_t i = 0; i < 3000; i++)
		made_stack(&m, 0, "p", 1,
			   STACK(made_location(&m, LOCATION_JIT, i, (1ull << 40) - 1),
				 made_location(&m, LOCATION_JIT, i, 0)));
	build(&m, &layout);
	for (uint32_t i = 0; i < m.locations.locations.size; i += 2) {
		address = address_of(&m, &layout, i + 1, &range);
		assert_true(address > last);
		last = address_of(&m, &layout, i, &range);
		assert_int_equal(last - address, (1ull << 40) - 1);
	}
	assert_true(last < 1ull << 63);
}

CASE(the_program_is_where_most_stacks_come_through)
{
	CLEANUP(made_deinit) struct made_view m;
	CLEANUP(address_layout_deinit) struct address_layout layout = {0};
	uint32_t library, program, helper, leaf;

	made_init(&m);
	library = made_location(&m, LOCATION_NATIVE, made_module(&m, "/lib/libc.so.6", 1), 1);
	helper = made_location(&m, LOCATION_NATIVE, made_module(&m, "/bin/helper", 2), 1);
	program = made_location(&m, LOCATION_NATIVE, made_module(&m, "/opt/x.sorted/run", 3), 1);
	leaf = made_location(&m, LOCATION_KERNEL, 0, 0xffffffff81000000);
	made_stack(&m, 0, "p", 9, STACK(leaf, library));
	made_stack(&m, 0, "p", 5, STACK(leaf, helper, program, program, library));
	made_stack(&m, 0, "p", 4, STACK(helper));
	build(&m, &layout);
	assert_int_not_equal(layout.main, ADDRESS_LAYOUT_NONE);
	assert_string_equal(layout.ranges.data[layout.main].name, "/opt/x.sorted/run");
	assert_int_equal(layout.ranges.data[layout.main].program_samples, 5);
}
