/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One paragraph per sample, in the format of `perf script --ns
 * -F comm,pid,tid,cpu,time,event,ip,sym,symoff,dso`, which stackcollapse-perf.pl, the Firefox
 * Profiler, hotspot and speedscope read. Other fields change the lines as they do in perf.
 *
 * Names are known only at the end, so samples are kept until then, with their addresses in a shared
 * tree. Samples whose stacks were completed late come after later ones, but `perf script` writes
 * samples in order of time.
 */
#include "sink/sink.h"

#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "sink/frame_text.h"
#include "sink/shown_profile.h"
#include "sink/ip_tree.h"
#include "sink/timeline/row_reader.h"
#include "sink/write/out.h"
#include "sink/write/text.h"

#define NS_PER_SECOND 1000000000ull
#define WRITE_BYTES   (64u << 10)
#define STACK_FIELDS                                                                               \
	(1u << SCRIPT_IP | 1u << SCRIPT_SYM | 1u << SCRIPT_SYMOFF | 1u << SCRIPT_DSO |             \
	 1u << SCRIPT_SRCLINE | 1u << SCRIPT_TIER)

struct kept_sample {
	uint64_t time_ns;
	uint32_t pid, tid, cpu;
	uint32_t comm;
	uint32_t node;
	uint32_t addresses; /* node of the ip tree; its path matches that of `node` */
};

#define SAMPLE_COLUMNS 7

struct sink {
	FILE *out;
	struct packed_memory memory;
	struct packed_rows samples; /* of struct kept_sample */
	struct ip_tree addresses;
	uint64_t left_out; /* the last samples, for which there was no room */
};

static int script_create(FILE *out, struct sink **ret)
{
	struct sink *sink = calloc(1, sizeof(*sink));

	if (!sink)
		return -ENOMEM;
	sink->out = out;
	sink->samples.columns = SAMPLE_COLUMNS;
	*ret = sink;
	return 0;
}

static void script_destroy(struct sink *sink)
{
	if (!sink)
		return;
	packed_rows_deinit(&sink->samples);
	packed_memory_deinit(&sink->memory);
	ip_tree_deinit(&sink->addresses);
	free(sink);
}

static int script_sample(struct sink *sink, const struct view *view,
			 const struct sink_sample *sample)
{
	const struct room room = packed_memory_room(&sink->memory);
	uint32_t addresses;
	int err;

	sink->memory.limit_bytes = view->samples_bytes;
	err = ip_tree_add(&sink->addresses, &room, sample->addresses,
			  sample->kernel_frames + sample->user_frames, &addresses);
	if (!err) {
		const uint64_t values[SAMPLE_COLUMNS] = {
			sample->time_ns, sample->node, addresses,    sample->pid,
			sample->tid,	 sample->cpu,  sample->comm,
		};

		err = packed_rows_add(&sink->samples, &sink->memory, values);
	}
	if (err == -EDQUOT) {
		sink->left_out++;
		return 0;
	}
	return err;
}

static struct kept_sample kept_of(const uint64_t *values)
{
	return (struct kept_sample){
		.time_ns = values[0],
		.node = (uint32_t)values[1],
		.addresses = (uint32_t)values[2],
		.pid = (uint32_t)values[3],
		.tid = (uint32_t)values[4],
		.cpu = (uint32_t)values[5],
		.comm = (uint32_t)values[6],
	};
}

static uint64_t script_left_out(const struct sink *sink)
{
	return sink->left_out;
}

static uint32_t fields_of(const struct view *view)
{
	return view->options.fields ?: SCRIPT_FIELDS_DEFAULT;
}

static bool has(const struct view *view, enum script_field field)
{
	return fields_of(view) & 1u << field;
}

/*
 * Put a thread's name. Importers split the line at white space from the left, and
 * stackcollapse-perf.pl requires a name of at least two characters that does not begin with white
 * space. A shorter name is padded with '?' and a second space.
 */
static void put_comm(struct text *text, const char *comm)
{
	bool blank = *comm == ' ';

	if (blank)
		text_put_string(text, "?");
	text_put_name(text, comm + blank, 0, 0);
	text_put_string(text, comm[1] ? " " : "  ");
}

static void put_header(struct text *text, const struct view *view, const struct kept_sample *s)
{
	size_t begin = text->bytes.size;

	if (has(view, SCRIPT_COMM))
		put_comm(text, frame_text_comm(view, s->comm));
	if (has(view, SCRIPT_PID) && has(view, SCRIPT_TID))
		text_printf(text, "%5u/%-5u ", s->pid, s->tid);
	else if (has(view, SCRIPT_PID) || has(view, SCRIPT_TID))
		text_printf(text, "%5u ", has(view, SCRIPT_PID) ? s->pid : s->tid);
	if (has(view, SCRIPT_CPU))
		text_printf(text, "[%03u] ", s->cpu);
	if (has(view, SCRIPT_TIME))
		text_printf(text,
			    "%5llu.%09llu: ", (unsigned long long)(s->time_ns / NS_PER_SECOND),
			    (unsigned long long)(s->time_ns % NS_PER_SECOND));
	if (has(view, SCRIPT_EVENT)) {
		text_put_name(text, *view->info->event ? view->info->event : "[unknown]", ' ', '_');
		text_put_string(text, ": ");
	}
	if (text->bytes.size > begin)
		text_put_string(text, "\n");
}

/*
 * Returns the distance of an address from its location, which was looked up: 1 for a return
 * address, 0 for a pc. Files and shared memory are mapped in whole pages, so the low bits of
 * address and offset show it.
 */
static uint64_t behind_location(const struct location *location, uint64_t ip)
{
	enum location_space space;
	uint64_t base, mask = 0xfff;

	if (!location || !location_base(location, &base))
		return 0;
	space = location_kind_info(location->kind)->space;
	if (space == LOCATION_SPACE_NONE || space == LOCATION_SPACE_ANON)
		return 0;
	if (space == LOCATION_SPACE_KERNEL)
		mask = UINT64_MAX;
	return ((ip - base - location->offset) & mask) == 1;
}

static void put_hex(struct text *text, uint64_t value, int width)
{
	char digits[16], *p = digits + sizeof(digits);

	do {
		*--p = "0123456789abcdef"[value % 16];
		value /= 16;
	} while (value);
	while (digits + sizeof(digits) - p < width)
		*--p = ' ';
	text_put(text, p, (size_t)(digits + sizeof(digits) - p));
}

/* Put a space, unless the line is empty. */
static void put_gap(struct text *text, size_t line)
{
	if (text->bytes.size > line)
		text_put_string(text, " ");
}

/*
 * Put one frame of a location. As in perf, an inlined frame has the offset in the function that it
 * was inlined into, and no file.
 */
static void put_frame(struct text *text, const struct view *view, const struct frame_text *frame,
		      uint64_t ip, const uint64_t *offset)
{
	size_t line;

	text_put_string(text, "\t");
	line = text->bytes.size;
	if (has(view, SCRIPT_IP))
		put_hex(text, ip, 16);
	if (has(view, SCRIPT_SYM) || has(view, SCRIPT_SYMOFF)) {
		put_gap(text, line);
		/* "[unknown]" as in perf; readers of the format show "[libx.so]" instead. */
		text_put_name(text,
			      frame->named || frame->kind != FRAME_KIND_NATIVE ? frame->name
									       : "[unknown]",
			      0, 0);
		if (has(view, SCRIPT_SYMOFF) && frame->named && offset &&
		    !frame_kind_is_runtime(frame->kind)) {
			text_put_string(text, "+0x");
			put_hex(text, *offset, 0);
		}
	}
	if (has(view, SCRIPT_DSO) && !frame->inlined) {
		put_gap(text, line);
		text_put_string(text, "(");
		text_put_name(text, frame->module, 0, 0);
		text_put_string(text, ")");
	}
	if (has(view, SCRIPT_TIER) && *code_tier_word(frame->tier) && !frame->inlined) {
		put_gap(text, line);
		text_printf(text, "[%s]", code_tier_word(frame->tier));
	}
	if (has(view, SCRIPT_SRCLINE) && *frame->file) {
		text_put_string(text, "\n  ");
		text_put_name(text, frame->file, 0, 0);
		if (frame->line)
			text_printf(text, ":%u", frame->line);
	}
	if (frame->inlined) {
		put_gap(text, line);
		text_put_string(text, "(inlined)");
	}
	text_put_string(text, "\n");
}

/* Write the text, as far as it fills a buffer: a sample may have thousands of frames. */
static int flush(struct text *text, FILE *out)
{
	return text->bytes.size < WRITE_BYTES ? 0 : text_write(text, out);
}

static int put_frames(struct text *text, FILE *out, const struct view *view, uint32_t location,
		      uint64_t ip)
{
	uint32_t count = frame_text_count(view, location);
	struct frame_text function, frame;
	uint64_t offset;
	int err = 0;

	frame_text_get(view, location, count - 1, &function);
	offset = function.symbol_offset + behind_location(frame_text_location(view, location), ip);
	for (uint32_t i = 0; i < count && !err; i++) {
		frame_text_get(view, location, i, &frame);
		put_frame(text, view, &frame, ip, function.named ? &offset : NULL);
		err = flush(text, out);
	}
	return err;
}

static int put_sample(struct text *text, const struct sink *sink, const struct view *view,
		      const struct kept_sample *sample)
{
	const struct profile *profile = view->profile;
	const struct profile_node *nodes = profile->nodes.data;
	uint32_t node = sample->node, ip = sample->addresses;
	int err = 0;

	put_header(text, view, sample);
	if (!(fields_of(view) & STACK_FIELDS))
		return flush(text, sink->out);
	for (; !err && node < profile->nodes.size && nodes[node].parent != PROFILE_NODE_NONE;
	     node = nodes[node].parent) {
		const struct location *location = frame_text_location(view, nodes[node].location);

		if (location &&
		    (location->kind == LOCATION_CUT || location->kind == LOCATION_OTHERS ||
		     location->kind == LOCATION_UNORDERED)) {
			err = put_frames(text, sink->out, view, nodes[node].location, 0);
			continue;
		}
		if (ip == IP_TREE_NONE)
			break;
		if (!shown_profile_hides(view, node))
			err = put_frames(text, sink->out, view, nodes[node].location,
					 sink->addresses.nodes.data[ip].ip);
		ip = sink->addresses.nodes.data[ip].parent;
	}
	text_put_string(text, "\n");
	return err ?: flush(text, sink->out);
}

static int script_finish(struct sink *sink, const struct view *view)
{
	AUTO_FREE struct row_reader *reader = calloc(1, sizeof(*reader));
	CLEANUP(text_deinit) struct text text = {0};
	const uint64_t *values;
	int err = 0, got = 1;

	if (!reader)
		return -ENOMEM;
	row_reader_begin(reader, &sink->samples);
	while (!err && (got = row_reader_next(reader, &values)) > 0) {
		const struct kept_sample sample = kept_of(values);

		err = put_sample(&text, sink, view, &sample);
	}
	row_reader_deinit(reader);
	err = err ?: got;
	err = err ?: text_write(&text, sink->out);
	return err ?: out_flush(sink->out);
}

const struct sink_ops sink_script = {
	.name = "script",
	.extension = ".txt",
	.create = script_create,
	.sample = script_sample,
	.finish = script_finish,
	.left_out = script_left_out,
	.destroy = script_destroy,
};
