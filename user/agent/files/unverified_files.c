/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/unverified_files.h"

#include <stdlib.h>

#define PID_MAX	  (1u << 22) /* the kernel's limit */
#define WORD_BITS 64

static struct unverified_process *find(struct unverified_files *files, uint32_t pid)
{
	vec_for_each (process, &files->waiting) {
		if (process->pid == pid)
			return process;
	}
	return NULL;
}

static bool is_sampled(const struct unverified_files *files, uint32_t pid)
{
	return files->sampled && pid < PID_MAX &&
	       files->sampled[pid / WORD_BITS] >> (pid % WORD_BITS) & 1;
}

static void add(struct unverified_count *count, struct unverified_count more)
{
	count->replaced += more.replaced;
	count->gone += more.gone;
}

void unverified_files_add(struct unverified_files *files, uint32_t pid, bool gone)
{
	struct unverified_count one = {.replaced = !gone, .gone = gone};
	struct unverified_process *process;

	if (is_sampled(files, pid)) {
		add(&files->count, one);
		return;
	}
	process = find(files, pid);
	if (process)
		add(&process->count, one);
	else if (files->waiting.size < UNVERIFIED_WAITING_MAX)
		(void)vec_push(&files->waiting, ((struct unverified_process){pid, one}));
}

void unverified_files_sample(struct unverified_files *files, uint32_t pid)
{
	struct unverified_process *process;

	if (pid >= PID_MAX || is_sampled(files, pid))
		return;
	if (!files->sampled)
		files->sampled = calloc(PID_MAX / WORD_BITS, sizeof(*files->sampled));
	if (files->sampled)
		files->sampled[pid / WORD_BITS] |= 1ull << (pid % WORD_BITS);
	process = find(files, pid);
	if (!process)
		return;
	add(&files->count, process->count);
	*process = files->waiting.data[--files->waiting.size];
}

void unverified_files_begin(struct unverified_files *files, uint32_t pid)
{
	if (is_sampled(files, pid))
		files->sampled[pid / WORD_BITS] &= ~(1ull << (pid % WORD_BITS));
}

void unverified_files_deinit(struct unverified_files *files)
{
	free(files->sampled);
	vec_deinit(&files->waiting);
}
