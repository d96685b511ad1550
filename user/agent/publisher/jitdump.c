/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jitdump files as a publisher. A file is found because the process that writes it maps it
 * executable once. It is read at the end of each drain in which its process was sampled. By then,
 * the records of all code that a sample could have run are in the file, or in the stdio buffer of
 * its process.
 */
#include <errno.h>
#include <stdlib.h>

#include "agent/clock.h"
#include "agent/patience.h"
#include "agent/publisher/jitdump_emission.h"
#include "agent/publisher/jitdump_files.h"
#include "agent/publisher/publisher.h"
#include "agent/publisher/sampled_pids.h"
#include "base/scope.h"

#define FILE_TURN_BYTES (4u << 20)     /* read of one file in one turn of the event loop */
#define TURN_BYTES	(16u << 20)    /* of all files */
#define TURN_NS		30000000ull    /* for all files */
#define LATE_BYTES	(512u << 20)   /* of all files, before the first round */
#define LATE_NS		500000000ull   /* for files that do not answer, before the first round */
#define OPEN_NS		250000000ull   /* an unread file keeps a round open at least so long */
#define OPEN_TURNS	5	       /* and for so many turns */
#define SILENT_NS	10000000000ull /* a file without an answer for so long is given up */
#define SWEEP_FILES	16	       /* files of processes without samples, read in a round */

struct jitdump {
	struct publisher_host host;
	struct jitdump_reader reader;
	struct jitdump_files files;
	struct sampled_pids sampled;
	size_t swept;	      /* files of processes without samples, read in this round */
	uint32_t turns;	      /* of the current round */
	size_t next_file;     /* where the next round begins */
	uint64_t late_bytes;  /* the part of LATE_BYTES that is left */
	bool all_opened;      /* late() has begun */
	uint64_t late_end_ns; /* patience until which late() waits for files without an answer */
	uint64_t open_end_ns; /* patience until which an unread file keeps the round open */
	uint64_t opened, late_events;
	uint64_t refused[JITBPF_COUNTER_MAX]; /* files, by the counter of the reason */
	byte_vec record;
};

static void destroy(void *self)
{
	struct jitdump *jitdump = self;

	jitdump_files_deinit(&jitdump->files);
	sampled_pids_deinit(&jitdump->sampled);
	vec_deinit(&jitdump->record);
	jitdump_reader_deinit(&jitdump->reader);
	free(jitdump);
}

static int create(const struct publisher_host *host, void **ret, const char **ret_what)
{
	struct jitdump *jitdump = calloc(1, sizeof(*jitdump));

	*ret_what = "starting";
	if (!jitdump)
		return -ENOMEM;
	jitdump->host = *host;
	jitdump->reader.store = host->files;
	jitdump->late_bytes = LATE_BYTES;
	jitdump_files_init(&jitdump->files, host->owners);
	/* Children from before the run, which inherited files, are found by the scan. */
	jitdump->files.forks_ns = jitdump->files.round_ns = host->came_ns;
	*ret = jitdump;
	return 0;
}

static int scanned(void *self, uint32_t pid, const struct proc_map *map)
{
	return 0; /* the mapping of a jitdump file is executable, so see() gets it as a record */
}

static int see(void *self, const struct jitbpf_record *record)
{
	struct jitdump *jitdump = self;

	return jitdump_files_see(&jitdump->files, record);
}

static int sampled(void *self, uint32_t pid)
{
	struct jitdump *jitdump = self;

	/* Also if there are no files: the mapping of a file may follow in this drain. */
	return sampled_pids_add(&jitdump->sampled, pid);
}

/* --- reading --------------------------------------------------------------------------- */

/* Open a file unless it is open. Returns 0 or a negative errno. */
static int open_file(struct jitdump *jitdump, struct jitdump_followed *followed)
{
	int err = followed->open ? 0
				 : jitdump_file_open(&followed->file, &jitdump->reader,
						     followed->ended_ns);

	if (err)
		return err;
	jitdump->opened += !followed->open;
	followed->open = true;
	return 0;
}

/* Returns true if a process from before the run has inherited its file. */
static bool is_inherited(struct jitdump *jitdump, const struct jitdump_followed *inherited)
{
	bool found = false;

	vec_for_each (followed, &jitdump->files.files) {
		if (*followed == inherited ||
		    !jitdump_followed_is(*followed, inherited->file.mapping))
			continue;
		/* If memory is short, the records of the heir are refused. */
		jitdump_followed_add_heir(*followed, inherited->pid);
		found = true;
	}
	return found;
}

static void count_refused(struct jitdump *jitdump, const struct jitdump_followed *followed, int err)
{
	static const struct {
		int err;
		enum jitbpf_counter counter;
	} reasons[] = {
		{-EPERM, JITBPF_COUNT_JITDUMPS_OTHER_USER},
		{-ENXIO, JITBPF_COUNT_JITDUMPS_OTHER_PROCESS},
		{-ENOTSUP, JITBPF_COUNT_JITDUMPS_FORMAT},
		{-EBADMSG, JITBPF_COUNT_JITDUMPS_MALFORMED},
		{-ETIME, JITBPF_COUNT_JITDUMPS_CLOCK},
	};
	enum jitbpf_counter counter = JITBPF_COUNT_JITDUMPS_REFUSED;

	if (followed->file.begun || (err == -ENXIO && is_inherited(jitdump, followed)))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
		if (reasons[i].err == err)
			counter = reasons[i].counter;
	}
	jitdump->refused[counter]++;
}

/* Returns true if a file that does not answer is to be read again. */
static bool may_answer(struct jitdump_followed *followed, uint64_t now_ns)
{
	if (!followed->silent_ns)
		followed->silent_ns = now_ns;
	return now_ns - followed->silent_ns < SILENT_NS;
}

/*
 * Continue to read a file. Returns 1 if there is more, 0 if there is not, JITDUMP_WAITS, -EAGAIN if
 * a part could not be read in time, -ECANCELED if the file cannot be used any more, -ENOMEM, or the
 * taker's error.
 */
static int read_on(struct jitdump *jitdump, struct jitdump_followed *followed,
		   uint64_t *budget_bytes, record_taker_fn take, void *take_context)
{
	uint64_t began_ns = clock_now_ns();
	struct jitdump_emission emission = {
		.followed = followed,
		.came_ns = jitdump->host.came_ns,
		.now_ns = began_ns,
		.forks_ns = jitdump->files.forks_ns,
		.code_bytes = CODE_ROUND_BYTES,
		.budget_bytes = budget_bytes,
		.record = &jitdump->record,
		.text = &jitdump->reader.text,
		.take = take,
		.take_context = take_context,
	};
	const struct jitdump_taker taker = {jitdump_emit, jitdump_emit_is_ready, &emission};
	int more = open_file(jitdump, followed), err;

	if (!more)
		more = jitdump_file_read(&followed->file, &jitdump->reader, budget_bytes, &taker);
	jitdump->late_events += emission.late_events;
	if (emission.err || more == -ENOMEM)
		return emission.err ?: more;
	if (more == -ETIMEDOUT && may_answer(followed, began_ns)) {
		more = -EAGAIN;
	} else if (more == -EINPROGRESS) {
		followed->silent_ns = 0;
		more = -EAGAIN;
	} else if (more < 0) {
		count_refused(jitdump, followed, more);
		followed->file.counts.unreadable += followed->file.begun;
		more = -ECANCELED;
	} else {
		followed->silent_ns = 0;
		if (!more)
			followed->read_ns = began_ns;
		if (!more && jitdump_followed_is_over(followed))
			jitdump_file_end(&followed->file);
	}
	err = jitdump_emit_counts(&emission);
	return err ?: more;
}

/* If *ret_dropped is set, the file was dropped, and index is that of the next file. */
static int read_file(struct jitdump *jitdump, size_t index, uint64_t *budget_bytes,
		     record_taker_fn take, void *take_context, bool *ret_dropped)
{
	struct jitdump_followed *followed = jitdump->files.files.data[index];
	uint64_t bytes = *budget_bytes < FILE_TURN_BYTES ? *budget_bytes : FILE_TURN_BYTES;
	uint64_t before = bytes;
	int more = read_on(jitdump, followed, &bytes, take, take_context);

	*budget_bytes -= before - bytes;
	*ret_dropped = more == -ECANCELED || (!more && jitdump_followed_is_over(followed));
	if (*ret_dropped)
		jitdump_files_drop(&jitdump->files, index);
	return more == -ECANCELED ? 0 : more;
}

/* Open all files before any is read: this detects processes that inherited the file of another. */
static void open_all(struct jitdump *jitdump)
{
	for (size_t i = 0; i < jitdump->files.files.size;) {
		int err = open_file(jitdump, jitdump->files.files.data[i]);

		if (err && err != -ETIMEDOUT) {
			count_refused(jitdump, jitdump->files.files.data[i], err);
			jitdump_files_drop(&jitdump->files, i);
		} else {
			i++;
		}
	}
}

static int late(void *self, record_taker_fn take, void *take_context)
{
	struct jitdump *jitdump = self;
	bool waits = false;

	if (!jitdump->all_opened) {
		open_all(jitdump);
		jitdump->late_end_ns = patience_now_ns(jitdump->host.patience) + LATE_NS;
	}
	jitdump->all_opened = true;

	for (size_t i = 0; i < jitdump->files.files.size; i++) {
		struct jitdump_followed *followed = jitdump->files.files.data[i];
		bool dropped;
		int more;

		if (followed->late_done)
			continue;
		more = read_file(jitdump, i, &jitdump->late_bytes, take, take_context, &dropped);
		if (more == -EAGAIN &&
		    patience_now_ns(jitdump->host.patience) < jitdump->late_end_ns) {
			waits = true;
			continue;
		}
		if (!dropped && more != 1)
			followed->late_done = true;
		return more < 0 && more != -EAGAIN ? more : jitdump->late_bytes > 0;
	}
	return waits && jitdump->late_bytes > 0;
}

/*
 * Returns true if the round needs the file: a process that may have written to it was sampled, or
 * has forked, so that its child inherits the code.
 */
static bool is_wanted(struct jitdump *jitdump, const struct jitdump_followed *followed)
{
	if (jitdump_followed_is_over(followed) || followed->forked_ns > followed->read_ns ||
	    sampled_pids_has(&jitdump->sampled, followed->pid))
		return true;
	vec_for_each (heir, &followed->heirs) {
		if (sampled_pids_has(&jitdump->sampled, heir->pid))
			return true;
	}
	return false;
}

static void begin_round(struct jitdump *jitdump, uint64_t round_ns)
{
	jitdump_files_begin_round(&jitdump->files, round_ns);
	sampled_pids_begin(&jitdump->sampled);
	jitdump->swept = 0;
	jitdump->turns = 0;
	jitdump->open_end_ns = patience_now_ns(jitdump->host.patience) + OPEN_NS;
	vec_for_each (followed, &jitdump->files.files) {
		jitdump_followed_forget(*followed);
		(*followed)->done = false;
	}
}

/*
 * Read files until the time or the bytes of a turn are used up. Of the files of processes without
 * samples, SWEEP_FILES are read in a round: there may be many, and no sample needs them yet.
 */
static int read_turn(struct jitdump *jitdump, record_taker_fn take, void *take_context)
{
	size_t left = jitdump->files.files.size, at = jitdump->next_file;
	uint64_t bytes = TURN_BYTES, end_ns = clock_now_ns() + TURN_NS;
	int err = 0;

	for (; left && err >= 0; left--) {
		struct jitdump_followed *followed;
		bool dropped = false, wanted;

		at = at < jitdump->files.files.size ? at : 0;
		followed = jitdump->files.files.data[at];
		wanted = is_wanted(jitdump, followed);
		if (!followed->done && (wanted || jitdump->swept < SWEEP_FILES)) {
			if (!bytes || clock_now_ns() > end_ns)
				break;
			jitdump->swept += !wanted;
			err = read_file(jitdump, at, &bytes, take, take_context, &dropped);
			if (!dropped)
				followed->done = !err || err == JITDUMP_WAITS || !wanted;
			err = err == -EAGAIN ? 0 : err;
		}
		at += !dropped;
	}
	jitdump->next_file = at;
	return err < 0 ? err : 0;
}

/* Returns true if the round waits for a file that may still be read in time. */
static bool is_open(struct jitdump *jitdump)
{
	vec_for_each (followed, &jitdump->files.files) {
		if (!(*followed)->done && !(*followed)->late && is_wanted(jitdump, *followed))
			return true;
	}
	return false;
}

/* Mark the files that the round needs and that are not read: their code is late for its samples. */
static void close_round(struct jitdump *jitdump, uint64_t round_ns)
{
	vec_for_each (followed, &jitdump->files.files) {
		if (!is_wanted(jitdump, *followed))
			continue;
		(*followed)->late = !(*followed)->done;
		(*followed)->settled_ns = round_ns;
	}
	sampled_pids_end(&jitdump->sampled);
}

static int end_round(void *self, uint64_t round_ns, bool full, record_taker_fn take,
		     void *take_context)
{
	struct jitdump *jitdump = self;
	int err;

	if (round_ns != jitdump->files.round_ns)
		begin_round(jitdump, round_ns);
	err = read_turn(jitdump, take, take_context);
	if (err)
		return err;
	if (is_open(jitdump) && !full &&
	    (++jitdump->turns < OPEN_TURNS ||
	     patience_now_ns(jitdump->host.patience) < jitdump->open_end_ns))
		return 1;
	close_round(jitdump, round_ns);
	return 0;
}

static void count(const void *self, uint64_t counters[JITBPF_COUNTER_MAX])
{
	const struct jitdump *jitdump = self;

	counters[JITBPF_COUNT_JITDUMPS] += jitdump->opened;
	counters[JITBPF_COUNT_JITDUMPS_OVER_BUDGET] += jitdump->files.over_budget;
	counters[JITBPF_COUNT_JITDUMP_LATE] += jitdump->late_events;
	for (size_t i = 0; i < JITBPF_COUNTER_MAX; i++)
		counters[i] += jitdump->refused[i];
}

const struct publisher_ops publisher_jitdump = {
	.create = create,
	.destroy = destroy,
	.scanned = scanned,
	.late = late,
	.see = see,
	.sampled = sampled,
	.round = end_round,
	.count = count,
};
