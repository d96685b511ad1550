/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/journal/journal_line.h"

#include <errno.h>

#include "agent/clock.h"
#include "agent/publisher/journal/journal_record.h"
#include "base/round_buffer.h"
#include "uapi/record.h"

struct slice {
	struct journal_line *line;
	const struct line_reading *reading;
	const struct journal_file *file;
	struct journal_origin origin;
};

/* The rest of a journal is not wanted. */
#define END_OF_FILE (-ECANCELED)

/* Charge an event that waits in intake. Returns false if the holder may not have it. */
static bool hold(struct slice *slice, const struct jit_journal_entry *entry)
{
	const struct line_reading *reading = slice->reading;
	uint64_t bytes =
		sizeof(struct jitbpf_jit) + entry->header.size_bytes + sizeof(struct round_entry);

	if (!reading->held ||
	    journal_record_time(&slice->origin, entry->header.time_ns) <= reading->from_ns)
		return true;
	return !owner_budget_charge(reading->held, reading->holder, bytes);
}

static int take_entry(void *context, const struct jit_journal_entry *entry)
{
	struct slice *slice = context;
	uint64_t sequence = entry->header.sequence;

	if (sequence >= slice->file->end_sequence)
		return END_OF_FILE;
	if (jitbpf_journal_is_unsure(&slice->file->header.unsure, &entry->header) ||
	    sequence < slice->line->had_to || entry->header.time_ns >= slice->file->end_ns)
		return 0;
	if (!hold(slice, entry))
		return -EXFULL;
	slice->line->had_to = sequence + 1;
	return journal_record_send(&slice->origin, entry, slice->reading->record);
}

/* Begin with the next journal. The reader owns its descriptor. */
static void begin_file(struct journal_line *line)
{
	struct journal_file *file = &line->files.files[line->file];

	journal_reader_close(&line->reader);
	line->reader = (struct journal_reader){.fd = file->fd, .size_bytes = file->size_bytes};
	file->fd = -1;
	line->had_to = 0;
	if (file->own && file->end_sequence > file->header.next_sequence)
		file->end_sequence = file->header.next_sequence;
}

void journal_line_begin(struct journal_line *line, uint32_t pid, struct journal_files *files)
{
	*line = (struct journal_line){.begun = true, .pid = pid, .files = *files, .reader.fd = -1};
	files->count = 0;
	begin_file(line);
}

int journal_line_read(struct journal_line *line, const struct line_reading *reading)
{
	const struct journal_file *file = &line->files.files[line->file];
	struct slice slice = {
		.line = line,
		.reading = reading,
		.file = file,
		.origin =
			{
				.pid = line->pid,
				.start_ns = reading->start_ns,
				.flags = reading->flags,
				.inherited = !file->own,
				.least_ns = reading->from_ns,
				.most_ns = clock_now_ns(),
				.threads = reading->threads,
				/* from another time namespace: only the order is known */
				.beyond_is_least = true,
				.take = reading->take,
				.take_context = reading->take_context,
			},
	};
	struct journal_taker taker = {.entry = take_entry, .context = &slice};
	int more = journal_reader_read(&line->reader, reading->budgets, reading->room,
				       reading->most_bytes, &taker);

	if (more && more != END_OF_FILE)
		return more;
	if (++line->file == line->files.count)
		return 0;
	begin_file(line);
	return 1;
}

void journal_line_end(struct journal_line *line)
{
	if (!line->begun)
		return;
	journal_reader_close(&line->reader);
	journal_files_close(&line->files);
	line->begun = false;
}
