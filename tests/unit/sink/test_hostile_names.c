/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All strings in an output may be chosen by an attacker. With hostile strings,
 * an output keeps the structure it has with plain strings: JSON and protobuf
 * stay valid, text has the same lines, and contains no terminal control or
 * bidirectional characters.
 */
#include "tests/unit/sink/made_ledger.h"
#include "tests/unit/sink/json_check.h"
#include "tests/unit/sink/profile_proto.h"

#include "base/scope.h"
#include "base/text.h"
#include "sink/diff/frame_diff.h"
#include "tests/unit/cases.h"

#define LARGE (1u << 20)

#define SINKS_MAX 32

/* --- a view in which everything is called the same ------------------------------- */

struct named_view {
	struct made_view m;
	struct sink_sample sample;
	struct code_region region;
	char *texts; /* its class, source and module */
	struct sink_code code;
	uint64_t addresses[3];
};

static void named_deinit(struct named_view *n)
{
	made_deinit(&n->m);
	free(n->texts);
}

static uint64_t named_module(struct made_view *m, const char *path)
{
	AUTO_FREE struct jitbpf_mapping *mapping = calloc(1, sizeof(*mapping) + strlen(path) + 1);
	const struct module *module;

	assert_non_null(mapping);
	mapping->h.size_bytes = (uint32_t)(sizeof(*mapping) + strlen(path) + 1);
	mapping->inode = 1;
	strcpy(mapping->path, path);
	assert_int_equal(module_table_add(&m->modules, mapping, (struct owner_key){0}, &module), 0);
	return module->number;
}

static uint32_t named_location(struct made_view *m, enum location_kind kind, uint64_t owner,
			       enum frame_kind frame_kind, const char *name)
{
	uint32_t location = made_location(m, kind, owner, 0x20);
	struct frame frames[2];

	for (int i = 0; i < 2; i++) {
		frames[i] = made_frame(m, frame_kind, name, name);
		frames[i].file = made_string(m, name);
		frames[i].line = 3;
	}
	frames[0].flags = FRAME_INLINED;
	assert_int_equal(frame_table_set(m->frames, location, frames, 2), 0);
	return location;
}

static void named_init(struct named_view *n, const char *name)
{
	struct made_view *m = &n->m;
	uint32_t kernel, jit, native;

	*n = (struct named_view){0};
	made_init(m);
	m->info.event = m->info.command = m->info.host = m->info.kernel = name;
	kernel = named_location(m, LOCATION_KERNEL, 0, FRAME_KIND_KERNEL, name);
	jit = named_location(m, LOCATION_JIT, 1, FRAME_KIND_JIT, name);
	native = named_location(m, LOCATION_NATIVE, named_module(m, name), FRAME_KIND_NATIVE, name);
	made_process(m, 7, name, 1, 0, 0, 0);
	n->sample = (struct sink_sample){
		.time_ns = m->info.start_ns + 5,
		.pid = 7,
		.tid = 7,
		.comm = made_string(m, name),
		.node = made_stack(m, 0, name, 1, STACK(kernel, jit, native)),
		.addresses = n->addresses,
		.kernel_frames = 1,
		.user_frames = 2,
	};
	made_count(m, &n->sample);
	n->texts = malloc(CODE_TEXTS * (strlen(name) + 1));
	assert_non_null(n->texts);
	for (size_t i = 0; i < CODE_TEXTS; i++)
		strcpy(n->texts + i * (strlen(name) + 1), name);
	n->region = (struct code_region){.name = name, .texts = n->texts};
	n->code = (struct sink_code){
		.time_ns = m->info.start_ns + 4,
		.pid = 7,
		.tid = 7,
		.comm = n->sample.comm,
		.region = &n->region,
	};
}

/* --- outputs ----------------------------------------------------------------------- */

struct output {
	char *text; /* decompressed, followed by a NUL */
	size_t size;
};

static struct output output_of(struct named_view *n, const struct sink_ops *ops)
{
	struct output output = {0};
	FILE *out = open_memstream(&output.text, &output.size);
	struct sink *sink;

	assert_non_null(out);
	assert_int_equal(ops->create(out, &sink), 0);
	if (ops->code)
		assert_int_equal(ops->code(sink, &n->m.view, &n->code), 0);
	if (ops->sample)
		assert_int_equal(ops->sample(sink, &n->m.view, &n->sample), 0);
	assert_int_equal(ops->finish(sink, &n->m.view), 0);
	ops->destroy(sink);
	fclose(out);
	return output;
}

enum diff_format { DIFF_TABLE, DIFF_FOLDED, DIFF_HTML, DIFF_FORMATS };

static struct output diff_of(struct named_view *n, enum diff_format format)
{
	struct output output = {0};
	FILE *out = open_memstream(&output.text, &output.size);
	const struct view *view = &n->m.view;
	struct frame_diff *diff;
	int err;

	assert_non_null(out);
	assert_int_equal(frame_diff_create(view, view, true, &diff), 0);
	if (format == DIFF_TABLE)
		err = frame_diff_write_table(out, diff, view, view, 0);
	else if (format == DIFF_FOLDED)
		err = frame_diff_write_folded(out, diff, true);
	else
		err = frame_diff_write_html(out, diff, view, view);
	assert_int_equal(err, 0);
	frame_diff_destroy(diff);
	fclose(out);
	return output;
}

static size_t count_of(const struct output *output, char c)
{
	const char *end = output->text + output->size;
	size_t count = 0;

	for (const char *at = output->text; (at = memchr(at, c, (size_t)(end - at))); at++)
		count++;
	return count;
}

/* --- what must hold ------------------------------------------------------------------ */

/* Returns true if no character begins at the text: it is within one. */
static bool is_within(const char *text)
{
	return (*text & 0xc0) == 0x80;
}

#define BLOCK 4096

/* Returns how many bytes both texts begin with, of the first `size`. */
static size_t same_begin(const char *a, const char *b, size_t size)
{
	size_t same = 0;

	while (size - same >= BLOCK && !memcmp(a + same, b + same, BLOCK))
		same += BLOCK;
	while (same < size && a[same] == b[same])
		same++;
	return same;
}

/* Returns how many bytes before `a` and before `b` are the same, of `size`. */
static size_t same_end(const char *a, const char *b, size_t size)
{
	size_t same = 0;

	while (size - same >= BLOCK && !memcmp(a - same - BLOCK, b - same - BLOCK, BLOCK))
		same += BLOCK;
	while (same < size && a[-1 - (ssize_t)same] == b[-1 - (ssize_t)same])
		same++;
	return same;
}

/*
 * Leave out what both texts begin and end with, in whole characters: of a page, that is nearly all,
 * and it was checked with plain names.
 */
static void leave_out_common(struct output *a, struct output *b)
{
	size_t size = a->size < b->size ? a->size : b->size;
	size_t begin = same_begin(a->text, b->text, size);
	size_t end = same_end(a->text + a->size, b->text + b->size, size - begin);

	while (begin && (is_within(a->text + begin) || is_within(b->text + begin)))
		begin--;
	while (end && (is_within(a->text + a->size - end) || is_within(b->text + b->size - end)))
		end--;
	*a = (struct output){a->text + begin, a->size - begin - end};
	*b = (struct output){b->text + begin, b->size - begin - end};
}

/*
 * Check UTF-8 in lines, without control characters other than tabs, and
 * direction marks if allowed.
 */
static void check_utf8(const struct output *output)
{
	const char *end = output->text + output->size;
	uint32_t bytes;

	for (const char *at = output->text; at < end; at += bytes) {
		uint32_t code = utf8_next(at, &bytes);

		assert_int_not_equal(code, UTF8_INVALID);
		assert_true(code == '\n' || code == '\t' || (code && !utf8_is_control(code)));
	}
}

/* Check lines; of a page, also that the mark-up is the same as with plain names. */
static void check_text(struct output output, struct output plain, bool is_page)
{
	assert_int_equal(strlen(output.text), output.size);
	leave_out_common(&output, &plain);
	check_utf8(&output);
	for (const char *c = is_page ? "\n\t<>" : "\n\t"; *c; c++)
		assert_int_equal(count_of(&output, *c), count_of(&plain, *c));
}

static void check_json(struct output *output, bool packed)
{
	AUTO_FREE char *unpacked = NULL;
	const char *text = output->text;
	size_t size;

	if (packed)
		text = unpacked = (char *)gunzip(output->text, output->size, &size);
	json_check(text);
}

static void check_protobuf(const struct output *output)
{
	struct profile_proto p = pp_read(output->text, output->size);

	assert_int_equal(pb_count(p.all, PP_SAMPLE), 1);
	assert_int_equal(pb_count(p.all, PP_LOCATION), 3);
	pp_deinit(&p);
}

static bool is_lines(const struct sink_ops *ops)
{
	return ops == &sink_folded || ops == &sink_html || ops == &sink_script ||
	       ops == &sink_summary || ops == &sink_top;
}

/* The outputs with plain names. */
struct plain_outputs {
	struct output sinks[SINKS_MAX]; /* by number of the format */
	struct output diffs[DIFF_FORMATS];
};

static int make_plain(void **state)
{
	struct plain_outputs *plain = calloc(1, sizeof(*plain));
	CLEANUP(named_deinit) struct named_view n;

	assert_non_null(plain);
	named_init(&n, "plain");
	assert_null(sink_at(SINKS_MAX));
	for (size_t i = 0; sink_at(i); i++) {
		plain->sinks[i] = output_of(&n, sink_at(i));
		if (is_lines(sink_at(i)))
			check_utf8(&plain->sinks[i]);
	}
	for (int i = 0; i < DIFF_FORMATS; i++) {
		plain->diffs[i] = diff_of(&n, i);
		check_utf8(&plain->diffs[i]);
	}
	*state = plain;
	return 0;
}

static int free_plain(void **state)
{
	struct plain_outputs *plain = *state;

	for (size_t i = 0; sink_at(i); i++)
		free(plain->sinks[i].text);
	for (int i = 0; i < DIFF_FORMATS; i++)
		free(plain->diffs[i].text);
	free(plain);
	return 0;
}

static void check_sink(struct named_view *n, const struct output *plain, const struct sink_ops *ops,
		       size_t name_bytes)
{
	struct output output = output_of(n, ops);

	/*
	 * A string is written a limited number of times, and each byte of it as
	 * at most six bytes.
	 */
	assert_true(output.size <= plain->size + 40 * 6 * name_bytes);
	if (ops == &sink_pprof)
		check_protobuf(&output);
	else if (is_lines(ops))
		check_text(output, *plain, ops == &sink_html);
	else
		check_json(&output, ends_with(ops->extension, ".gz"));
	free(output.text);
}

static void check_name(const struct plain_outputs *plain, const char *name)
{
	CLEANUP(named_deinit) struct named_view n;

	named_init(&n, name);
	for (size_t i = 0; sink_at(i); i++)
		check_sink(&n, &plain->sinks[i], sink_at(i), strlen(name));
	for (int i = 0; i < DIFF_FORMATS; i++) {
		struct output output = diff_of(&n, i);

		check_text(output, plain->diffs[i], i == DIFF_HTML);
		free(output.text);
	}
}

/* --- names ----------------------------------------------------------------------------- */

CASE(names_that_break_what_does_not_look_out)
{
	for (size_t i = 0; i < MADE_NASTY_COUNT; i++)
		check_name(*state, made_nasty_names[i]);
}

static void put_utf8(uint32_t code, char character[4])
{
	int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;

	character[0] = (char)(0xff00 >> (more + 1) | code >> 6 * more);
	for (int i = 1; i <= more; i++)
		character[i] = (char)(0x80 | (code >> 6 * (more - i) & 63));
}

CASE(every_byte_and_every_control_character)
{
	char name[8];

	for (int byte = 1; byte < 256; byte++) {
		snprintf(name, sizeof(name), "a%cb", byte);
		check_name(*state, name);
	}
	for (uint32_t code = 0x80; code < 0xe1000; code += code < 0x10000 ? 1 : 0x80) {
		char character[5] = {0};
		uint32_t bytes;

		if (!utf8_is_control(code))
			continue;
		put_utf8(code, character);
		assert_int_equal(utf8_next(character, &bytes), code);
		snprintf(name, sizeof(name), "a%sb", character);
		check_name(*state, name);
	}
}

CASE(a_name_of_a_megabyte)
{
	static const char part[] = "x\"\\</script>\xff\x1b[2J\xe2\x80\xae;\n/0x";
	AUTO_FREE char *name = malloc(LARGE + 1);

	assert_non_null(name);
	for (size_t at = 0; at < LARGE; at++)
		name[at] = part[at % (sizeof(part) - 1)];
	name[LARGE] = 0;
	check_name(*state, name);
}

CASE(junk)
{
	uint64_t random = 42;
	char name[4097];

	for (int round = 0; round < 20; round++) {
		for (size_t i = 0; i + 1 < sizeof(name); i++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			name[i] = (char)(1 + (random >> 33) % 255);
		}
		name[sizeof(name) - 1] = 0;
		check_name(*state, name);
	}
}

CASES_GROUP(make_plain, free_plain)
