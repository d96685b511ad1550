/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Passes over the processes after losses, with this process as the only wanted one. */
#include <stdint.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/live/lost_mappings.h"
#include "tests/unit/cases.h"

#define REST LOST_MAPPINGS_REST_NS

struct fixture {
	struct lost_mappings lost;
	struct process_scan scan;
	struct file_store *files;
	uint32_t comms, doubtful, read_again;
	uint64_t lost_ns, time_ns; /* of the last records */
	uint64_t cut;
	int error;
};

static bool is_own(void *context, uint32_t pid)
{
	return pid == (uint32_t)getpid();
}

static int take(void *context, const struct jitbpf_record *record)
{
	struct fixture *f = context;

	if (record->type == JITBPF_COMM) {
		assert_int_equal(record->flags, JITBPF_COMM_READ_AGAIN);
		f->comms++;
	} else if (record->type == JITBPF_MAPPING && record->flags & JITBPF_MAPPING_DOUBTFUL) {
		f->doubtful++;
		f->lost_ns = record->time_ns;
	} else if (record->type == JITBPF_MAPPING) {
		assert_int_equal(record->flags, JITBPF_MAPPING_READ_AGAIN);
		f->read_again++;
		f->time_ns = record->time_ns;
	}
	return f->error;
}

static void begin(struct fixture *f)
{
	*f = (struct fixture){0};
	assert_int_equal(file_store_create(&(struct file_store_options){0}, &f->files), 0);
	f->scan = (struct process_scan){
		.files = f->files,
		.wanted = is_own,
		.take = take,
		.take_context = f,
		.ret_cut = &f->cut,
	};
}

static void end(struct fixture *f)
{
	lost_mappings_deinit(&f->lost);
	file_store_destroy(f->files);
}

/* A round at round_ns, and more rounds until the pass is done. */
static void pass(struct fixture *f, uint64_t losses, uint64_t round_ns)
{
	do
		assert_int_equal(lost_mappings_round(&f->lost, losses, round_ns, &f->scan), 0);
	while (f->lost.left);
}

CASE(test_no_loss)
{
	struct fixture f;

	begin(&f);
	pass(&f, 0, 1000);
	assert_int_equal(f.comms, 0);
	end(&f);
}

/* The loss may have come at any time since the round before. */
CASE(test_loss)
{
	uint64_t now_ns = clock_now_ns();
	struct fixture f;

	begin(&f);
	pass(&f, 0, now_ns);
	pass(&f, 3, now_ns + 50);
	assert_int_equal(f.comms, 1);
	assert_true(f.read_again > 2);
	assert_int_equal(f.doubtful, f.read_again);
	assert_int_equal(f.lost_ns, now_ns);
	assert_int_equal(f.time_ns, now_ns + 50);
	/* It is settled. */
	pass(&f, 3, now_ns + 10 * REST);
	assert_int_equal(f.comms, 1);
	end(&f);
}

/* Losses after a pass wait for a rest, and the next pass begins at the first of them. */
CASE(test_losses_go_on)
{
	uint64_t now_ns = clock_now_ns();
	struct fixture f;

	begin(&f);
	pass(&f, 1, now_ns);
	pass(&f, 2, now_ns + 1);
	pass(&f, 3, now_ns + 2);
	assert_int_equal(f.comms, 1);
	pass(&f, 3, clock_now_ns() + 100 * REST);
	assert_int_equal(f.comms, 2);
	assert_int_equal(f.lost_ns, now_ns);
	end(&f);
}

CASE(test_error)
{
	struct fixture f;

	begin(&f);
	f.error = -ENOMEM;
	assert_int_equal(lost_mappings_round(&f.lost, 1, clock_now_ns(), &f.scan), -ENOMEM);
	end(&f);
}
