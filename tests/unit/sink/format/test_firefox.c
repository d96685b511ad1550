/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/unit/sink/gunzip.h"
#include "tests/unit/sink/made_view.h"

#include "base/scope.h"
#include "sink/timeline/code_markers.h"
#include "tests/unit/cases.h"

/* Returns the JSON that the Profiler reads. The caller frees it. */
static char *firefox_of(struct made_view *m, const struct sink_sample *samples, size_t count)
{
	size_t packed_bytes, bytes;
	AUTO_FREE char *packed = made_output_of(m, &sink_firefox, samples, count, &packed_bytes);
	char *text = (char *)gunzip(packed, packed_bytes, &bytes);

	assert_int_equal(strlen(text), bytes);
	return text;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("%s\nis not in\n%s", part, text);
}

/* Returns the number of a module. */
static uint64_t made_module(struct made_view *m, const char *path, const uint8_t build_id[20])
{
	AUTO_FREE struct jitbpf_mapping *mapping = calloc(1, sizeof(*mapping) + strlen(path) + 1);
	const struct module *module;

	assert_non_null(mapping);
	mapping->h.size_bytes = (uint32_t)(sizeof(*mapping) + strlen(path) + 1);
	mapping->inode = 1 + m->modules.count;
	strcpy(mapping->path, path);
	if (build_id) {
		memcpy(mapping->build_id, build_id, sizeof(mapping->build_id));
		mapping->build_id_bytes = sizeof(mapping->build_id);
	}
	assert_int_equal(module_table_add(&m->modules, mapping, (struct owner_key){0}, &module), 0);
	return module->number;
}

CASE(threads_are_over_time)
{
	CLEANUP(made_deinit) struct made_view m;
	uint32_t node, idle;

	made_init(&m);
	m.info.freq_hz = 1000;
	m.info.wall_clock_ns = 1700000000123456789;
	node = made_stack(&m, 0, "p", 1, STACK(made_named(&m, LOCATION_NATIVE, 1, "f", "/p")));
	idle = made_stack(&m, 0, "p", 1, 0, NULL);

	const struct sink_sample samples[] = {
		{.time_ns = 1, .pid = 7, .tid = 7, .comm = made_string(&m, "p"), .node = node},
		{.time_ns = 1001500000,
		 .pid = 7,
		 .tid = 8,
		 .comm = made_string(&m, "w"),
		 .node = node},
		{.time_ns = 1002000001,
		 .pid = 7,
		 .tid = 8,
		 .comm = made_string(&m, "w"),
		 .node = idle},
		{.time_ns = 1001999999,
		 .pid = 7,
		 .tid = 8,
		 .comm = made_string(&m, "w"),
		 .node = node},
	};
	AUTO_FREE char *text = firefox_of(&m, samples, 4);
	assert_has(text, "{\"meta\":{\"version\":36,\"preprocessedProfileVersion\":70,"
			 "\"interval\":1,\"startTime\":1700000000123.456789,"
			 "\"startTimeAsClockMonotonicNanosecondsSinceBoot\":1000000000,"
			 "\"profilingStartTime\":0,\"profilingEndTime\":2500,");
	assert_has(text, "\"product\":\"engine --fast\"");
	assert_has(text, "\"oscpu\":\"Linux 6.18.0 x86_64\",\"logicalCPUs\":2");
	/* A sample before the start is moved to the start; a late one has its own time. */
	assert_has(text, "{\"name\":\"p\",\"processName\":\"p\",\"processType\":\"default\","
			 "\"isMainThread\":true,\"pid\":\"7\",\"tid\":7,");
	assert_has(text, "\"samples\":{\"length\":1,\"weight\":null,\"weightType\":\"samples\","
			 "\"stack\":[0],\"time\":[0],\"threadCPUDelta\":[1000000]}");
	assert_has(text, "{\"name\":\"w\",\"processName\":\"p\",\"processType\":\"default\","
			 "\"isMainThread\":false,\"pid\":\"7\",\"tid\":8,");
	assert_has(text, "\"samples\":{\"length\":3,\"weight\":null,\"weightType\":\"samples\","
			 "\"stack\":[0,0,null],\"time\":[1.5,1.999999,2.000001],"
			 "\"threadCPUDelta\":[1000000,1000000,1000000]}");
}

/* Returns the profile of one sample and of JIT code changes. The caller frees it. */
static char *firefox_with_code(struct made_view *m, const struct sink_sample *sample,
			       const struct sink_code *code, size_t count)
{
	char *packed = NULL, *text;
	size_t packed_bytes = 0, bytes;
	FILE *out = open_memstream(&packed, &packed_bytes);
	struct sink *sink;

	assert_non_null(out);
	assert_int_equal(sink_firefox.create(out, &sink), 0);
	assert_int_equal(sink_firefox.sample(sink, &m->view, sample), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(sink_firefox.code(sink, &m->view, &code[i]), 0);
	assert_int_equal(sink_firefox.finish(sink, &m->view), 0);
	sink_firefox.destroy(sink);
	fclose(out);
	text = (char *)gunzip(packed, packed_bytes, &bytes);
	free(packed);
	return text;
}

CASE(code_is_on_the_time_line_of_its_thread)
{
	static const struct code_region method = {.name = "run", .texts = "App\0a.js\0"};
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	const struct sink_sample sample = {
		.time_ns = 1001000000,
		.pid = 7,
		.tid = 7,
		.comm = made_string(&m, "p"),
		.node = made_stack(&m, 0, "p", 1, 0, NULL),
	};
	const struct sink_code code[] = {
		{.time_ns = 999999999, .pid = 7, .tid = 7, .region = &method},
		{.time_ns = 1000500000,
		 .pid = 7,
		 .tid = 7,
		 .method_id = 3,
		 .address = 0x7f0000001000,
		 .size_bytes = 64,
		 .region = &method},
		{.time_ns = 1002000000,
		 .pid = 7,
		 .tid = 9,
		 .comm = sample.comm,
		 .method_id = 3,
		 .gone = true},
	};
	AUTO_FREE char *text = firefox_with_code(&m, &sample, code, 3);
	assert_has(text, "\"markers\":{\"length\":1,\"data\":[{\"type\":\"JITLoad\",\"method\":4,"
			 "\"source\":5,\"address\":\"0x7f0000001000\",\"size\":64,\"id\":3}],"
			 "\"name\":[1],\"startTime\":[0.5],\"endTime\":[null],\"phase\":[0],"
			 "\"category\":[3]}");
	assert_has(
		text,
		"[\"\",\"JIT load\",\"JIT unload\",\"JIT events dropped\",\"App::run\",\"a.js\"]");
	/* A thread without samples has the name of its process. */
	assert_has(text, "{\"name\":\"p\",\"processName\":\"p\",\"processType\":\"default\","
			 "\"isMainThread\":false,\"pid\":\"7\",\"tid\":9,");
	assert_has(text, "\"markers\":{\"length\":1,\"data\":[{\"type\":\"JITUnload\",\"id\":3}],"
			 "\"name\":[2],\"startTime\":[2],");
	assert_has(text, "{\"label\":\"markers\",\"format\":\"integer\",\"value\":2}");
	assert_has(text, "{\"label\":\"before the start\",\"format\":\"integer\",\"value\":1}");
}

CASE(a_storm_ends_in_one_marker)
{
	static const struct code_region method = {.name = "run", .texts = CODE_NO_TEXTS};
	CLEANUP(made_deinit) struct made_view m;
	AUTO_FREE struct sink_code *code = calloc(CODE_MARKERS_MAX + 20, sizeof(*code));

	assert_non_null(code);
	made_init(&m);
	for (size_t i = 0; i < CODE_MARKERS_MAX + 20; i++)
		code[i] = (struct sink_code){.time_ns = 1000000000 + i * 1000, .region = &method};
	const struct sink_sample sample = {.node = made_stack(&m, 0, "p", 1, 0, NULL)};
	AUTO_FREE char *text = firefox_with_code(&m, &sample, code, CODE_MARKERS_MAX + 20);
	assert_has(text, "\"markers\":{\"length\":100001,");
	assert_has(text, "{\"type\":\"JITLeftOut\",\"count\":20}],\"name\":");
	assert_has(text, ",99.999,100],\"endTime\":");
	assert_has(text, "null,100.019],\"phase\":");
	assert_has(text, ",0,0,1],\"category\":");
}

/* jit (inlined in a method) < main < outer: frames have categories and symbols. */
CASE(frames_have_categories_and_symbols)
{
	static const uint8_t build_id[20] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd,
					     0xef, 0x10, 0x32, 0x54, 0x76, 0x98, 0xba,
					     0xdc, 0xfe, 0xaa, 0xbb, 0xcc, 0xdd};
	CLEANUP(made_deinit) struct made_view m;
	struct code_region region = {.value = {.refs = 1}, .address = 0x7f0000001000};
	struct location method = {
		.kind = LOCATION_JIT, .owner = 5, .offset = 0x40, .code = &region.value};
	struct frame frames[2], native;
	uint32_t kernel, jit, main_, unnamed;

	made_init(&m);
	kernel = made_named(&m, LOCATION_KERNEL, 0xffffffff81000010, "sys_read",
			    "[kernel.kallsyms]");
	assert_int_equal(location_table_add(&m.locations, &method, &jit), 0);
	frames[0] = made_frame(&m, FRAME_KIND_JIT, "inner", "");
	frames[0].flags = FRAME_INLINED;
	frames[0].file = made_string(&m, "a.js");
	frames[0].line = 12;
	frames[1] = made_frame(&m, FRAME_KIND_JIT, "method", "");
	assert_int_equal(frame_table_set(m.frames, jit, frames, 2), 0);
	main_ = made_location(&m, LOCATION_NATIVE, made_module(&m, "/opt/bin/p", build_id), 0x1234);
	native = made_frame(&m, FRAME_KIND_NATIVE, "main", "/opt/bin/p");
	assert_int_equal(frame_table_set(m.frames, main_, &native, 1), 0);
	unnamed = made_location(&m, LOCATION_UNKNOWN, 0, 1);

	const struct sink_sample sample = {
		.pid = 7,
		.tid = 7,
		.comm = made_string(&m, "p"),
		.node = made_stack(&m, 0, "p", 1, STACK(kernel, jit, main_, unnamed)),
	};
	AUTO_FREE char *text = firefox_of(&m, &sample, 1);
	assert_has(text, "\"stackTable\":{\"length\":5,\"frame\":[0,1,3,2,4],"
			 "\"prefixOffset\":[0,1,1,1,1]}");
	assert_has(text, "\"frameTable\":{\"length\":5,\"address\":[-1,-1,-1,-1,-1],"
			 "\"lib\":[-1,0,1,1,2],\"inlineDepth\":[0,0,1,0,0],"
			 "\"category\":[0,2,3,3,1],\"subcategory\":[0,0,10,0,0],"
			 "\"func\":[0,1,2,3,4],\"nativeSymbol\":[null,0,1,1,2],");
	assert_has(text, "\"line\":[null,null,12,null,null]");
	assert_has(text, "\"source\":[null,null,0,null,null]");
	assert_has(text, "\"nativeSymbols\":{\"length\":3,\"libIndex\":[0,1,2],"
			 "\"address\":[4644,139637976731648,16777216],");
	assert_has(text, "\"libs\":[{\"arch\":\"x86_64\",\"name\":\"p\",\"path\":\"/opt/bin/p\","
			 "\"debugName\":\"p\",\"debugPath\":\"/opt/bin/p\","
			 "\"breakpadId\":\"67452301AB89EFCD1032547698BADCFE0\","
			 "\"codeId\":\"0123456789abcdef1032547698badcfeaabbccdd\"},"
			 "{\"arch\":\"x86_64\",\"name\":\"[jit]\",\"path\":\"[jit]\","
			 "\"debugName\":\"[jit]\",\"debugPath\":\"[jit]\",\"breakpadId\":\"\","
			 "\"codeId\":null},{\"arch\":\"x86_64\",\"name\":\"[kernel.kallsyms]\",");
}

CASE(addresses_that_cannot_be_said_are_none)
{
	CLEANUP(made_deinit) struct made_view m;
	uint32_t low_kernel, bad_offset, no_code;

	made_init(&m);
	low_kernel = made_named(&m, LOCATION_KERNEL, 0x1000, "k", "[kernel.kallsyms]");
	/* the symbol starts at 0x10 */
	bad_offset = made_named(&m, LOCATION_NATIVE, 0x8, "n", "/p");
	no_code = made_named(&m, LOCATION_JIT, 0x40, "j", "");

	const struct sink_sample sample = {
		.comm = made_string(&m, "p"),
		.node = made_stack(&m, 0, "p", 1, STACK(low_kernel, bad_offset, no_code)),
	};
	AUTO_FREE char *text = firefox_of(&m, &sample, 1);
	assert_has(text, "\"lib\":[0,1,2]");
	assert_has(text, "\"nativeSymbol\":[null,null,null]");
	assert_has(text, "\"nativeSymbols\":{\"length\":0,");
}

CASE(samples_of_an_unknown_rate_have_no_cpu_time)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	m.info.freq_hz = 0;
	const struct sink_sample sample = {.node = made_stack(&m, 0, "p", 1, 0, NULL)};
	AUTO_FREE char *text = firefox_of(&m, &sample, 1);
	assert_null(strstr(text, "\"threadCPUDelta\":["));
	assert_has(text, "\"name\":\"[unknown]\"");
}

CASE(nothing_sampled_has_no_threads)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	AUTO_FREE char *text = firefox_of(&m, NULL, 0);
	assert_has(text, "\"libs\":[],");
	assert_has(text, "\"stringArray\":[\"\"]},\"threads\":[]}");
}

CASE(no_name_breaks_the_format)
{
	CLEANUP(made_deinit) struct made_view m;
	int quotes = 0;

	made_init(&m);
	for (uint32_t i = 0; i < MADE_NASTY_COUNT; i++) {
		const char *name = made_nasty_names[i];
		uint32_t location =
			made_location(&m, LOCATION_NATIVE, made_module(&m, name, NULL), 0x100);
		struct frame frame = made_frame(&m, FRAME_KIND_NATIVE, name, name);
		int before = quotes;

		frame.file = made_string(&m, name);
		assert_int_equal(frame_table_set(m.frames, location, &frame, 1), 0);
		m.info.command = m.info.host = m.info.kernel = name;
		const struct sink_sample sample = {
			.comm = made_string(&m, name),
			.node = made_stack(&m, 0, name, 1, STACK(location)),
		};
		AUTO_FREE char *text = firefox_of(&m, &sample, 1);

		quotes = 0;
		for (char *c = text; *c; c++) {
			quotes += *c == '"';
			assert_true((uint8_t)*c >= 0x20 && *c != 0x7f && *c != '<');
		}
		assert_true(quotes > 0 && (!before || quotes == before));
	}
}

CASE(a_full_disk_is_an_error)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	made_check_full_disk(&m, &sink_firefox);
}
