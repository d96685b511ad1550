/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "agent/clock.h"
#include "agent/files/helper/file_blob.h"
#include "agent/workers/unwind_worker.h"
#include "base/scope.h"
#include "tests/unit/cases.h"

#define FOR_EVER_NS   600000000000ull
#define MODULES	      (UNWIND_FILES_OPEN_MAX + 6)
#define MODULE_BAD    1 /* a module that cannot be opened */
#define MODULE_NO_ELF 2
#define CODE_ADDRESS  0x7f0000001000ull
#define CODE_PID      77
#define SLOW_PID      100 /* reads of its memory block until the test releases them */

/* A substitute for an interpreter: most of it has a frame of 104 bytes and saves rbp. */
__asm__(".pushsection .text\n .globl execute_ex\n .type execute_ex, @function\n execute_ex:\n"
	".cfi_startproc\n push %rbp\n .cfi_def_cfa_offset 16\n .cfi_offset rbp, -16\n"
	"sub $88, %rsp\n .cfi_def_cfa_offset 104\n .skip 64, 0x90\n add $88, %rsp\n"
	".cfi_def_cfa_offset 16\n pop %rbp\n .cfi_def_cfa_offset 8\n ret\n .cfi_endproc\n"
	".size execute_ex, . - execute_ex\n .popsection");

/* At another address: nop; jmp *(r15) */
#define INSIDE_ADDRESS (CODE_ADDRESS + 0x100000)
static const uint8_t inside[] = {0x90, 0x41, 0xff, 0x27};

/* push rbp; mov rbp, rsp; nop; pop rbp; ret */
static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0x90, 0x5d, 0xc3};

/* call *rax; nop; call rel32; nop; call *(rip) */
static const uint8_t calls[] = {0xff, 0xd0, 0x90, 0xe8, 1, 2, 3, 4, 0x90, 0xff, 0x15, 0, 0, 0, 0};

struct rows_made {
	struct unwind_files *files;
	struct unwind_worker *worker;
	struct unwind_service service;
	struct module modules[MODULES];
	uint32_t opened[MODULES], open;
	uint64_t code_bytes; /* bytes of code that can be read */
	bool calls;	     /* the code is `calls` */
	sem_t slow_begun, read_slow;
	VEC(struct unwind_answer) answers;
};

static struct rows_made *made_of_blob; /* the file of the current blob context */

static int read_bad(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
	memset(buf, 0, size_bytes);
	return 0;
}

static void count_closed(void *context)
{
	made_of_blob->open--;
}

static int open_module(void *context, const struct module *module, struct blob *ret)
{
	struct rows_made *made = context;

	made->opened[module->number]++;
	if (module->number == MODULE_BAD)
		return -EIO;
	if (module->number >= MODULE_NO_ELF) {
		made->open++;
		*ret = (struct blob){.size_bytes = 4096, .read = read_bad, .close = count_closed};
		return 0;
	}
	return file_blob_open_path(ret, "/proc/self/exe");
}

static int read_memory(void *context, uint32_t pid, struct owner_key owner, uint64_t address,
		       void *buf, size_t size_bytes, size_t *ret_bytes)
{
	struct rows_made *made = context;
	uint64_t from = address - CODE_ADDRESS;

	if (pid == SLOW_PID) {
		sem_post(&made->slow_begun);
		sem_wait(&made->read_slow);
	} else if (pid != CODE_PID) {
		return -ESRCH;
	}
	if (address == INSIDE_ADDRESS && size_bytes == sizeof(inside)) {
		*ret_bytes = sizeof(inside);
		memcpy(buf, inside, sizeof(inside));
		return 0;
	}
	if (from >= made->code_bytes)
		return -EFAULT;
	*ret_bytes = size_bytes < made->code_bytes - from ? size_bytes : made->code_bytes - from;
	memset(buf, 0x90, *ret_bytes);
	if (made->calls)
		memcpy(buf, calls + from, *ret_bytes);
	else
		memcpy(buf, code, *ret_bytes < sizeof(code) ? *ret_bytes : sizeof(code));
	return 0;
}

static int setup(void **state)
{
	struct rows_made *made = calloc(1, sizeof(*made));
	struct file_source files = {.open_module = open_module, .context = made};
	struct memory_source memory = {.read = read_memory, .context = made};
	struct unwind_maker maker;

	for (uint32_t i = 0; i < MODULES; i++)
		made->modules[i] = (struct module){.number = i, .path = "/some/file"};
	made->code_bytes = sizeof(code);
	sem_init(&made->slow_begun, 0, 0);
	sem_init(&made->read_slow, 0, 0);
	made_of_blob = made;
	*state = made;
	return unwind_files_create(&files, &made->files, &maker)
		       ?: unwind_worker_create(&maker, &memory, &made->worker, &made->service);
}

static int teardown(void **state)
{
	struct rows_made *made = *state;

	unwind_worker_destroy(made->worker);
	unwind_files_destroy(made->files);
	assert_int_equal(made->open, 0);
	vec_for_each (answer, &made->answers)
		unwind_rows_deinit(&answer->rows);
	vec_deinit(&made->answers);
	sem_destroy(&made->slow_begun);
	sem_destroy(&made->read_slow);
	free(made);
	return 0;
}

static void ask_rows(struct rows_made *made, uint32_t module, uint32_t page, bool slow)
{
	struct unwind_request request = {
		.kind = UNWIND_PAGE_ROWS,
		.page = {.module = &made->modules[module], .page = page, .slow = slow},
	};

	assert_int_equal(made->service.request(made->service.context, &request), 0);
}

static void ask_page(struct rows_made *made, uint32_t module, uint32_t page)
{
	ask_rows(made, module, page, false);
}

static void ask_region(struct rows_made *made, uint32_t pid, uint64_t size_bytes)
{
	struct unwind_request request = {
		.kind = UNWIND_CODE_ROWS,
		.pid = pid,
		.code = {.region = 5, .address = CODE_ADDRESS, .size_bytes = size_bytes},
	};

	assert_int_equal(made->service.request(made->service.context, &request), 0);
}

/* Copies the answer. */
static int take(void *made_, const struct unwind_answer *answer)
{
	struct rows_made *made = made_;
	struct unwind_answer copy = *answer;

	memset(&copy.rows, 0, sizeof(copy.rows));
	vec_for_each (row, &answer->rows.rows)
		assert_int_equal(unwind_rows_add(&copy.rows, row->offset, row->cfa, row->rbp), 0);
	return vec_push(&made->answers, copy);
}

static void collect_all(struct rows_made *made, size_t count)
{
	assert_int_equal(made->service.collect(made->service.context, FOR_EVER_NS, take, made), 0);
	assert_int_equal(made->answers.size, count);
}

#define PAGES 8

/* The last PAGES pages of this program's code; with sanitizers it does not begin on the first. */
static uint32_t first_page(void)
{
	extern const char __executable_start, etext;
	uint64_t last = (uint64_t)(&etext - &__executable_start - 1) / UNWIND_PAGE_BYTES;

	return last >= PAGES ? (uint32_t)last - PAGES + 1 : 0;
}

static int by_page(const void *a_, const void *b_)
{
	const struct unwind_answer *a = a_, *b = b_;

	return (a->request.page.page > b->request.page.page) -
	       (a->request.page.page < b->request.page.page);
}

/* Pages of this program, with rows from its own call frame information. */
CASE_WITH(test_pages, setup, teardown)
{
	struct rows_made *made = *state;
	uint32_t first = first_page();
	size_t rows = 0;

	for (uint32_t i = 0; i < PAGES; i++)
		ask_page(made, 0, first + PAGES - 1 - i);
	collect_all(made, PAGES);
	/* A page that takes long comes last. */
	qsort(made->answers.data, PAGES, sizeof(*made->answers.data), by_page);
	for (uint32_t i = 0; i < PAGES; i++) {
		const struct unwind_answer *answer = &made->answers.data[i];

		assert_ptr_equal(answer->request.page.module, &made->modules[0]);
		assert_int_equal(answer->request.page.page, first + i);
		assert_int_equal(answer->error, 0);
		assert_true(answer->rows.rows.size > 0);
		assert_int_equal(answer->rows.rows.data[0].offset, 0);
		rows += answer->rows.rows.size;
	}
	assert_true(rows > 10 * PAGES);
	ask_page(made, 0, first + PAGES);
	collect_all(made, PAGES + 1);
	assert_int_equal(made->opened[0], 1);
}

/* A file that cannot be opened is tried once, for all of its pages. */
CASE_WITH(test_bad_files, setup, teardown)
{
	struct rows_made *made = *state;

	for (uint32_t i = 0; i < 10; i++) {
		ask_page(made, MODULE_BAD, i);
		ask_page(made, MODULE_NO_ELF, i);
	}
	collect_all(made, 20);
	vec_for_each (answer, &made->answers) {
		assert_int_equal(answer->error, answer->request.page.module->number == MODULE_BAD
							? -EIO
							: -ENOEXEC);
		assert_int_equal(answer->rows.rows.size, 0);
	}
	assert_int_equal(made->opened[MODULE_BAD], 1);
	assert_int_equal(made->opened[MODULE_NO_ELF], 1);
	assert_int_equal(made->open, 1); /* for looks at return addresses */
}

/* The least recently used files are closed. */
CASE_WITH(test_many_files, setup, teardown)
{
	struct rows_made *made = *state;

	for (uint32_t i = 0; i < MODULES; i++)
		ask_page(made, i, 0);
	collect_all(made, MODULES);
	ask_page(made, MODULES - 1, 1);
	ask_page(made, 0, 1);
	collect_all(made, MODULES + 2);
	assert_int_equal(made->opened[MODULES - 1], 1);
	assert_int_equal(made->opened[0], 2);
}

static struct unwind_row row_at(const struct unwind_answer *answer, uint32_t offset)
{
	return unwind_rows_at(&answer->rows, offset);
}

CASE_WITH(test_code, setup, teardown)
{
	uint64_t before_ns = clock_now_ns();
	struct rows_made *made = *state;
	const struct unwind_answer *answer;

	ask_region(made, CODE_PID, sizeof(code));
	collect_all(made, 1);
	answer = &made->answers.data[0];
	assert_int_equal(answer->error, 0);
	assert_int_equal(answer->request.code.region, 5);
	assert_int_equal(answer->request.kind, UNWIND_CODE_ROWS);
	assert_true(answer->read_ns >= before_ns && answer->read_ns <= clock_now_ns());
	assert_int_equal(row_at(answer, 0).cfa, UNWIND_CFA(UNWIND_CFA_RSP, 8));
	assert_int_equal(row_at(answer, 0).rbp, UNWIND_RBP_KEPT);
	assert_int_equal(row_at(answer, 1).cfa, UNWIND_CFA(UNWIND_CFA_RSP, 16));
	assert_int_equal(row_at(answer, 1).rbp, -2);
	assert_int_equal(row_at(answer, 6).cfa, UNWIND_CFA(UNWIND_CFA_RSP, 8));
}

/* A copy of the code is used instead of the memory; code after a truncated copy is unknown. */
CASE_WITH(test_code_copied, setup, teardown)
{
	struct unwind_request request = {
		.kind = UNWIND_CODE_ROWS,
		.pid = CODE_PID + 1,
		.code = {.region = 7,
			 .address = CODE_ADDRESS,
			 .size_bytes = sizeof(code),
			 .copy = code,
			 .copy_bytes = sizeof(code) - 1},
	};
	struct rows_made *made = *state;
	const struct unwind_answer *answer;

	assert_int_equal(made->service.request(made->service.context, &request), 0);
	collect_all(made, 1);
	answer = &made->answers.data[0];
	assert_int_equal(answer->error, 0);
	assert_int_equal(answer->read_ns, 0);
	assert_ptr_equal(answer->request.code.copy, code);
	assert_int_equal(row_at(answer, 1).cfa, UNWIND_CFA(UNWIND_CFA_RSP, 16));
	assert_int_equal(row_at(answer, 6).cfa, UNWIND_CFA_COMMAND(UNWIND_UNKNOWN));
}

/* A function that nobody calls. */
extern const uint8_t returns_here[];
__asm__(".pushsection .text\n mov $1, %eax\n call . + 0x10\n returns_here:\n ret\n nop\n nop\n"
	".popsection");

static const struct unwind_answer *ask_return(struct rows_made *made, uint32_t module,
					      uint64_t offset)
{
	struct unwind_request request = {
		.kind = UNWIND_RETURN_SITE,
		.return_site = {.module = &made->modules[module], .to = offset},
	};

	assert_int_equal(made->service.request(made->service.context, &request), 0);
	collect_all(made, made->answers.size + 1);
	return &made->answers.data[made->answers.size - 1];
}

/* The file, which is this program, is looked at; no rows are made. */
CASE_WITH(test_returns, setup, teardown)
{
	extern const char __executable_start;
	uint64_t offset = returns_here - (const uint8_t *)&__executable_start;
	struct rows_made *made = *state;

	for (uint64_t i = 0; i < 3; i++) {
		const struct unwind_answer *answer = ask_return(made, 0, offset + i);

		assert_int_equal(answer->error, 0);
		assert_int_equal(answer->can_return, !i);
		assert_int_equal(answer->rows.rows.size, 0);
	}
	assert_int_equal(made->opened[0], 1);
	assert_int_equal(ask_return(made, 0, UINT64_MAX)->error, -EBADMSG);
	assert_int_equal(ask_return(made, MODULE_BAD, offset)->error, -EIO);
	/* A file of zeros, which is no ELF file. */
	assert_int_equal(ask_return(made, MODULE_NO_ELF, 100)->error, 0);
	assert_false(made->answers.data[made->answers.size - 1].can_return);
}

static const struct unwind_answer *ask_memory_return(struct rows_made *made, uint32_t pid,
						     uint64_t address)
{
	struct unwind_request request = {
		.kind = UNWIND_RETURN_SITE, .pid = pid, .return_site = {.to = address}};

	assert_int_equal(made->service.request(made->service.context, &request), 0);
	collect_all(made, made->answers.size + 1);
	return &made->answers.data[made->answers.size - 1];
}

/* The memory is looked at, from the begin of the page on, if that is near. */
CASE_WITH(test_returns_in_memory, setup, teardown)
{
	struct rows_made *made = *state;

	made->code_bytes = sizeof(calls);
	made->calls = true;
	for (uint64_t to = 1; to <= sizeof(calls); to++) {
		const struct unwind_answer *answer =
			ask_memory_return(made, CODE_PID, CODE_ADDRESS + to);

		assert_int_equal(answer->error, 0);
		assert_int_equal(answer->can_return, to == 2 || to == 8 || to == 15);
	}
	assert_int_equal(ask_memory_return(made, CODE_PID, CODE_ADDRESS + 16)->error, -EFAULT);
	assert_int_equal(ask_memory_return(made, CODE_PID + 1, CODE_ADDRESS + 2)->error, -ESRCH);
}

static const struct unwind_answer *check(struct rows_made *made, uint32_t pid, const uint8_t *copy,
					 uint32_t copy_bytes, const uint8_t *is)
{
	struct unwind_request request = {
		.kind = UNWIND_CODE_CHECK,
		.pid = pid,
		.code = {.address = CODE_ADDRESS,
			 .size_bytes = sizeof(code),
			 .copy = copy,
			 .copy_bytes = copy_bytes,
			 .check = {.number = 3, .is = is}},
	};

	assert_int_equal(made->service.request(made->service.context, &request), 0);
	collect_all(made, made->answers.size + 1);
	return &made->answers.data[made->answers.size - 1];
}

/* The memory, or what is said to be in it, is compared with a copy; no rows are made. */
CASE_WITH(test_checks, setup, teardown)
{
	static const uint8_t other[] = {0x55, 0x48, 0x89, 0xe5, 0x90, 0x5b, 0xc3};
	uint64_t before_ns = clock_now_ns();
	struct rows_made *made = *state;
	const struct unwind_answer *answer = check(made, CODE_PID, code, sizeof(code), NULL);

	assert_int_equal(answer->error, 0);
	assert_false(answer->differs);
	assert_int_equal(answer->bytes_read, sizeof(code));
	assert_int_equal(answer->rows.rows.size, 0);
	assert_true(answer->read_ns >= before_ns && answer->read_ns <= clock_now_ns());
	assert_true(check(made, CODE_PID, other, sizeof(other), NULL)->differs);
	assert_false(check(made, CODE_PID, code, 2, NULL)->differs);
	assert_false(check(made, CODE_PID, NULL, 0, NULL)->differs);
	assert_int_equal(check(made, CODE_PID + 1, code, sizeof(code), NULL)->error, -ESRCH);
	answer = check(made, CODE_PID + 1, code, sizeof(code), other);
	assert_int_equal(answer->error, 0);
	assert_true(answer->differs);
	assert_null(answer->bytes);
	assert_false(check(made, CODE_PID + 1, code, sizeof(code), code)->differs);
	made->code_bytes = 4;
	assert_true(check(made, CODE_PID, code, sizeof(code), NULL)->differs);
}

/* Code that cannot be read completely is unknown after that; exited processes give an error. */
CASE_WITH(test_code_cut, setup, teardown)
{
	struct rows_made *made = *state;
	const struct unwind_answer *answers;

	made->code_bytes = 5;
	ask_region(made, CODE_PID, 1ull << 40);
	ask_region(made, CODE_PID, 0);
	ask_region(made, CODE_PID + 1, 5);
	collect_all(made, 3);
	answers = made->answers.data;
	for (uint32_t i = 0; i < 3; i++) {
		const struct unwind_answer *answer = &answers[i];

		if (answer->request.pid != CODE_PID) {
			assert_int_equal(answer->error, -ESRCH);
		} else if (!answer->request.code.size_bytes) {
			assert_int_equal(answer->error, -EINVAL);
		} else {
			assert_int_equal(answer->error, 0);
			assert_int_equal(row_at(answer, 1).cfa, UNWIND_CFA(UNWIND_CFA_RSP, 16));
			assert_int_equal(row_at(answer, 5).cfa, UNWIND_CFA_COMMAND(UNWIND_UNKNOWN));
			assert_int_equal(row_at(answer, UINT32_MAX).cfa,
					 UNWIND_CFA_COMMAND(UNWIND_UNKNOWN));
		}
	}
}

static void ask_inside(struct rows_made *made, const struct module *host)
{
	struct unwind_request request = {
		.kind = UNWIND_CODE_ROWS,
		.pid = CODE_PID,
		.code = {.region = 6,
			 .address = INSIDE_ADDRESS,
			 .size_bytes = sizeof(inside),
			 .host = {host, "execute_ex"}},
	};

	assert_int_equal(made->service.request(made->service.context, &request), 0);
}

/* With a host, JIT code is entered in the frame of the host's interpreter. */
CASE_WITH(test_code_with_host, setup, teardown)
{
	static const struct unwind_row rows[] = {
		{.cfa = UNWIND_CFA(UNWIND_CFA_RSP, 104), .rbp = -2},
		{.cfa = UNWIND_CFA(UNWIND_CFA_RSP, 104), .rbp = -2},
		{.cfa = UNWIND_CFA(UNWIND_CFA_RSP, 8), .rbp = UNWIND_RBP_KEPT},
		{.cfa = UNWIND_CFA(UNWIND_CFA_RSP, 8), .rbp = UNWIND_RBP_KEPT},
	};
	struct rows_made *made = *state;

	ask_inside(made, &made->modules[0]);
	collect_all(made, 1);
	ask_inside(made, &made->modules[0]);
	collect_all(made, 2);
	ask_inside(made, &made->modules[MODULE_BAD]);
	collect_all(made, 3);
	ask_inside(made, NULL);
	collect_all(made, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(made->answers.data[i].error, 0);
		assert_int_equal(row_at(&made->answers.data[i], 1).cfa, rows[i].cfa);
		assert_int_equal(row_at(&made->answers.data[i], 1).rbp, rows[i].rbp);
	}
	assert_int_equal(made->opened[0], 1);
}

static int make_either(void *context, const struct module *module, uint32_t page, bool quick,
		       struct unwind_rows *ret)
{
	return unwind_rows_add(ret, 0, UNWIND_CFA_COMMAND(quick ? UNWIND_NOT_MADE : UNWIND_UNKNOWN),
			       UNWIND_RBP_KEPT);
}

/* Rows that take long come behind all others. */
CASE_WITH(test_slow_pages_come_last, setup, teardown)
{
	struct unwind_maker maker = {.page = make_either};
	struct memory_source memory = {0};
	struct rows_made *made = *state;

	unwind_worker_destroy(made->worker);
	made->worker = NULL;
	assert_int_equal(unwind_worker_create(&maker, &memory, &made->worker, &made->service), 0);
	for (uint32_t page = 0; page < PAGES; page++)
		ask_rows(made, 0, page, !page);
	collect_all(made, PAGES);
	for (uint32_t i = 0; i < PAGES; i++) {
		const struct unwind_answer *answer = &made->answers.data[i];

		assert_int_equal(answer->error, 0);
		assert_int_equal(answer->request.page.page, (i + 1) % PAGES);
		assert_int_equal(answer->rows.rows.size, 1);
		assert_int_equal(answer->rows.rows.data[0].cfa,
				 UNWIND_CFA_COMMAND(answer->request.page.slow ? UNWIND_UNKNOWN
									      : UNWIND_NOT_MADE));
	}
}

/* Small regions come before pages, since their code may disappear. */
CASE_WITH(test_code_comes_first, setup, teardown)
{
	struct rows_made *made = *state;

	ask_page(made, MODULE_BAD, 0);
	ask_region(made, CODE_PID, sizeof(code));
	collect_all(made, 2);
	assert_int_equal(made->answers.data[0].request.kind, UNWIND_CODE_ROWS);
	assert_int_equal(made->answers.data[1].request.kind, UNWIND_PAGE_ROWS);
}

/* Large regions come after pages. */
CASE_WITH(test_large_code_comes_later, setup, teardown)
{
	struct rows_made *made = *state;

	ask_region(made, CODE_PID, 1 << 20);
	ask_page(made, MODULE_BAD, 0);
	collect_all(made, 2);
	assert_int_equal(made->answers.data[0].request.kind, UNWIND_PAGE_ROWS);
	assert_int_equal(made->answers.data[1].request.kind, UNWIND_CODE_ROWS);
}

/* A check reads the beginning of the code only, however large the region is. */
CASE_WITH(test_checks_come_first, setup, teardown)
{
	struct rows_made *made = *state;
	struct unwind_request check = {
		.kind = UNWIND_CODE_CHECK,
		.pid = CODE_PID,
		.code = {.region = 5,
			 .address = CODE_ADDRESS,
			 .size_bytes = 1 << 20,
			 .check = {.number = 1}},
	};

	ask_page(made, MODULE_BAD, 0);
	assert_int_equal(made->service.request(made->service.context, &check), 0);
	collect_all(made, 2);
	assert_int_equal(made->answers.data[0].request.kind, UNWIND_CODE_CHECK);
	assert_int_equal(made->answers.data[0].request.code.check.number, 1);
	assert_int_equal(made->answers.data[1].request.kind, UNWIND_PAGE_ROWS);
}

/* A process with many requests does not delay those of others. */
CASE_WITH(test_processes_take_turns, setup, teardown)
{
	struct rows_made *made = *state;

	for (int i = 0; i < 4; i++)
		ask_region(made, SLOW_PID, 64 << 10);
	sem_post(&made->read_slow);
	while (!made->answers.size)
		assert_int_equal(made->service.collect(made->service.context, 1000000, take, made),
				 0);
	sem_wait(&made->slow_begun);
	sem_wait(&made->slow_begun);
	/*
	 * The second process is served now; the requests of the first have been
	 * queued for longer.
	 */
	ask_page(made, MODULE_BAD, 0);
	assert_int_equal(made->service.collect(made->service.context, 0, take, made), 0);
	assert_int_equal(made->answers.size, 1);
	for (int i = 0; i < 3; i++)
		sem_post(&made->read_slow);
	collect_all(made, 5);
	assert_int_equal(made->answers.data[1].request.pid, SLOW_PID);
	assert_int_equal(made->answers.data[2].request.kind, UNWIND_PAGE_ROWS);
}

CASE_WITH(test_nobody_takes, setup, teardown)
{
	struct rows_made *made = *state;

	for (uint32_t i = 0; i < 20; i++) {
		ask_page(made, 0, i);
		ask_region(made, CODE_PID, sizeof(code));
	}
	assert_int_equal(made->service.collect(made->service.context, 0, take, made), 0);
}
