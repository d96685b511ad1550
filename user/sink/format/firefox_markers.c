/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/format/firefox_markers.h"

#include <errno.h>
#include <inttypes.h>

#include "base/scope.h"

#define MS_PLACES 6 /* decimal places of times in ms */

/* The Profiler's numbers of marker phases. */
enum phase { PHASE_INSTANT = 0, PHASE_INTERVAL = 1 };

struct field {
	const char *key, *label, *format;
};

struct schema {
	const char *name; /* the type of the marker's data */
	const char *label;
	struct field fields[7]; /* ends at the first without a key */
};

static const struct schema schemas[] = {
	{"JITLoad",
	 "{marker.data.method}",
	 {{"method", "Method", "unique-string"},
	  {"module", "Module", "unique-string"},
	  {"source", "Source", "unique-string"},
	  {"address", "Address", "string"},
	  {"size", "Size", "bytes"},
	  {"id", "Method ID", "integer"}}},
	{"JITUnload",
	 "{marker.name} of {marker.data.id}",
	 {{"address", "Address", "string"},
	  {"size", "Size", "bytes"},
	  {"id", "Method ID", "integer"}}},
	{"JITLeftOut",
	 "{marker.data.count} loads and unloads",
	 {{"count", "Loads and unloads", "integer"}}},
};

static void write_fields(struct json *json, const struct schema *schema)
{
	json_key(json, "fields");
	json_begin(json, '[');
	for (const struct field *field = schema->fields; field->key; field++) {
		json_begin(json, '{');
		json_member_string(json, "key", field->key);
		json_member_string(json, "label", field->label);
		json_member_string(json, "format", field->format);
		json_end(json, '}');
	}
	json_end(json, ']');
}

void firefox_markers_write_schema(struct json *json)
{
	json_key(json, "markerSchema");
	json_begin(json, '[');
	for (size_t i = 0; i < ARRAY_SIZE(schemas); i++) {
		json_begin(json, '{');
		json_member_string(json, "name", schemas[i].name);
		json_member_string(json, "chartLabel", schemas[i].label);
		json_member_string(json, "tooltipLabel", schemas[i].label);
		json_member_string(json, "tableLabel", schemas[i].label);
		json_key(json, "display");
		json_begin(json, '[');
		json_string(json, "marker-chart");
		json_string(json, "marker-table");
		json_string(json, "timeline-overview");
		json_end(json, ']');
		write_fields(json, &schemas[i]);
		json_end(json, '}');
	}
	json_end(json, ']');
}

int firefox_marker_strings_build(struct firefox_marker_strings *strings,
				 const struct code_markers *markers, struct firefox_tables *tables)
{
	int err = 0;

	if (!markers->threads.size)
		return 0;
	strings->names = calloc(markers->string_count + 1, sizeof(*strings->names));
	if (!strings->names)
		return -ENOMEM;
	err = firefox_tables_string(tables, "JIT load", &strings->load);
	err = err ?: firefox_tables_string(tables, "JIT unload", &strings->unload);
	err = err ?: firefox_tables_string(tables, "JIT events dropped", &strings->left_out);
	for (uint32_t i = 0; i < markers->string_count && !err; i++)
		err = firefox_tables_string(tables, string_pool_get(markers->strings, i),
					    &strings->names[i]);
	return err;
}

void firefox_marker_strings_deinit(struct firefox_marker_strings *strings)
{
	free(strings->names);
}

/* The source of a thread's table. */
struct thread_markers {
	const struct code_markers *markers;
	const struct firefox_marker_strings *strings;
	struct code_thread thread;
	uint64_t start_ns;
};

static const struct code_marker *next_marker(const struct thread_markers *t,
					     const struct code_marker *marker)
{
	uint32_t number = marker ? marker->next : t->thread.first;

	return number == CODE_MARKER_NONE ? NULL : &t->markers->markers.data[number];
}

static void write_code(struct json *json, const struct code_marker *marker)
{
	char address[19];

	if (marker->address) {
		snprintf(address, sizeof(address), "0x%" PRIx64, marker->address);
		json_member_string(json, "address", address);
	}
	if (marker->size_bytes)
		json_member_number(json, "size", marker->size_bytes);
	if (marker->method_id)
		json_member_number(json, "id", marker->method_id);
}

static void write_data(struct json *json, const struct thread_markers *t,
		       const struct code_marker *marker)
{
	const uint32_t *names = t->strings->names;

	json_begin(json, '{');
	if (!marker) {
		json_member_string(json, "type", "JITLeftOut");
		json_member_number(json, "count", t->thread.left_out);
	} else if (marker->gone) {
		json_member_string(json, "type", "JITUnload");
		write_code(json, marker);
	} else {
		json_member_string(json, "type", "JITLoad");
		if (marker->name)
			json_member_number(json, "method", names[marker->name]);
		if (marker->module)
			json_member_number(json, "module", names[marker->module]);
		if (marker->source)
			json_member_number(json, "source", names[marker->source]);
		write_code(json, marker);
	}
	json_end(json, '}');
}

static void write_name(struct json *json, const struct thread_markers *t,
		       const struct code_marker *marker)
{
	json_number(json, !marker	 ? t->strings->left_out
			  : marker->gone ? t->strings->unload
					 : t->strings->load);
}

static void write_time(struct json *json, const struct thread_markers *t, uint64_t time_ns)
{
	json_decimal(json, time_ns > t->start_ns ? time_ns - t->start_ns : 0, MS_PLACES);
}

static void write_start(struct json *json, const struct thread_markers *t,
			const struct code_marker *marker)
{
	write_time(json, t, marker ? marker->time_ns : t->thread.left_from_ns);
}

static void write_end(struct json *json, const struct thread_markers *t,
		      const struct code_marker *marker)
{
	if (marker)
		json_literal(json, "null");
	else
		write_time(json, t, t->thread.left_to_ns);
}

static void write_phase(struct json *json, const struct thread_markers *t,
			const struct code_marker *marker)
{
	json_number(json, marker ? PHASE_INSTANT : PHASE_INTERVAL);
}

static void write_category(struct json *json, const struct thread_markers *t,
			   const struct code_marker *marker)
{
	json_number(json, FRAME_KIND_JIT);
}

/* The columns. Marker NULL stands for all dropped markers. */
static const struct {
	const char *key;
	void (*write)(struct json *json, const struct thread_markers *t,
		      const struct code_marker *marker);
} columns[] = {
	{"data", write_data},	{"name", write_name},	{"startTime", write_start},
	{"endTime", write_end}, {"phase", write_phase}, {"category", write_category},
};

void firefox_markers_write(struct json *json, const struct code_markers *markers, uint32_t thread,
			   const struct firefox_marker_strings *strings, uint64_t start_ns)
{
	const struct thread_markers t = {
		.markers = markers,
		.strings = strings,
		.thread = code_markers_thread(markers, thread),
		.start_ns = start_ns,
	};
	const struct code_marker *marker = NULL;
	uint64_t count = t.thread.left_out > 0;

	while ((marker = next_marker(&t, marker)))
		count++;
	json_key(json, "markers");
	json_begin(json, '{');
	json_member_number(json, "length", count);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		json_key(json, columns[i].key);
		json_begin(json, '[');
		while ((marker = next_marker(&t, marker)))
			columns[i].write(json, &t, marker);
		if (t.thread.left_out)
			columns[i].write(json, &t, NULL);
		json_end(json, ']');
	}
	json_end(json, '}');
}
