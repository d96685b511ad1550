/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* When locations are named: as they are first seen, and as the symbol service answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sink/frame_text.h"
#include "tests/unit/pipeline/made_run.h"

#define LIB    0x700000
#define KERNEL 0xffffffff81000010ull
#define BPF    0xffffffffc0001000ull

/* A symbol service that answers when it is told to. */
static struct {
	struct {
		uint64_t ticket;
		struct location what;
	} requests[16];
	size_t requested, answered, may_answer;
} service;

static int request(void *context, uint64_t ticket, const struct location *what,
		   const struct module *module)
{
	assert_true(service.requested < ARRAY_SIZE(service.requests));
	assert_int_equal(what->kind == LOCATION_NATIVE, module != NULL);
	service.requests[service.requested].ticket = ticket;
	service.requests[service.requested++].what = *what;
	return 0;
}

static int collect(void *context, bool wait, symbol_taker_fn take, void *take_context)
{
	size_t end = wait ? service.requested : service.may_answer;

	for (; service.answered < end; service.answered++) {
		struct symbol_frame frames[] = {
			{.name = "inlined", .module = "/lib/x.so", .inlined = true},
			{.name = "function", .module = "/lib/x.so"},
		};
		int err = take(take_context, service.requests[service.answered].ticket, frames, 2);

		if (err)
			return err;
	}
	return 0;
}

static const struct symbol_service symbols = {.request = request, .collect = collect};

static struct made_run run;

/* The innermost frame of the only location of a kind, as "name module count". */
static const char *shown(enum location_kind kind)
{
	static char text[128];
	const struct view *view = pipeline_view(run.pipeline);
	struct frame_text frame;

	for (uint32_t i = 0; i < view->locations->locations.size; i++) {
		if (view->locations->locations.data[i].kind != kind)
			continue;
		frame_text_get(view, i, 0, &frame);
		snprintf(text, sizeof(text), "%s %s %u", frame.name, frame.module,
			 frame_text_count(view, i));
		return text;
	}
	return "";
}

/* A sample in JIT code, called by a file, and one in the kernel's code. */
static void make_samples(uint64_t time_ns)
{
	const uint64_t user[] = {MADE_CODE + 0x10, LIB + 0x20};
	const uint64_t kernel[] = {BPF + 0x10, KERNEL};
	struct jitbpf_sample *sample;

	make_sample_of(&run, time_ns, MADE_PID, MADE_START, user, 2);
	sample = make_sample_of(&run, time_ns + 1, MADE_PID, MADE_START, kernel, 2);
	sample->kernel_frames = 2;
	sample->user_frames = 0;
	sample->user_end = JITBPF_END_NONE;
}

static void begin(const struct symbol_service *with)
{
	struct jitbpf_kernel_symbol *symbol;

	memset(&service, 0, sizeof(service));
	made_run_begin(&run, &(struct pipeline_options){.analysis.symbols = with});
	make_mapping(&run, 5, MADE_PID, LIB, "/lib/x.so");
	make_load(&run, 6, 0, "method");
	symbol = make_record(&run, JITBPF_KERNEL_SYMBOL, sizeof(*symbol) + sizeof("bpf_prog_1"), 7);
	symbol->address = BPF;
	symbol->size_bytes = 0x100;
	strcpy(symbol->name, "bpf_prog_1");
	made_round(&run, 9);
}

static void locations_are_named_as_they_are_seen(void **state)
{
	begin(&symbols);
	make_samples(10);
	made_round(&run, 20);
	assert_string_equal(shown(LOCATION_JIT), "method [jit] 1");
	assert_string_equal(shown(LOCATION_KERNEL_CODE), "bpf_prog_1 [bpf] 1");
	/* These are requested; until the answer, their file stands in. */
	assert_int_equal(service.requested, 2);
	assert_string_equal(shown(LOCATION_NATIVE), "[x.so] /lib/x.so 1");
	assert_string_equal(shown(LOCATION_KERNEL), "[unknown] [kernel.kallsyms] 1");
	service.may_answer = 2;
	made_round(&run, 30);
	assert_string_equal(shown(LOCATION_NATIVE), "inlined /lib/x.so 2");
	assert_string_equal(shown(LOCATION_KERNEL), "inlined /lib/x.so 2");
	/* Seen again, nothing is requested again. */
	make_samples(31);
	made_round(&run, 40);
	assert_int_equal(service.requested, 2);
	made_finish(&run, 50);
	assert_string_equal(shown(LOCATION_JIT), "method [jit] 1");
	made_run_end(&run);
}

/* The method that a place had when it was sampled, though another is there now. */
static void a_name_stays_when_its_code_is_replaced(void **state)
{
	begin(NULL);
	make_samples(10);
	make_load(&run, 15, 1, "newer");
	made_round(&run, 20);
	assert_string_equal(shown(LOCATION_JIT), "method [jit] 1");
	made_finish(&run, 30);
	assert_string_equal(shown(LOCATION_JIT), "method [jit] 1");
	made_run_end(&run);
}

/* At the end, the service is waited for; without one, the stand-ins stay. */
static void at_the_end_names_are_complete(void **state)
{
	begin(&symbols);
	make_samples(10);
	made_finish(&run, 20);
	assert_string_equal(shown(LOCATION_NATIVE), "inlined /lib/x.so 2");
	made_run_end(&run);
	begin(NULL);
	make_samples(10);
	made_finish(&run, 20);
	assert_string_equal(shown(LOCATION_NATIVE), "[x.so] /lib/x.so 1");
	assert_string_equal(shown(LOCATION_KERNEL), "[unknown] [kernel.kallsyms] 1");
	made_run_end(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(locations_are_named_as_they_are_seen),
		cmocka_unit_test(a_name_stays_when_its_code_is_replaced),
		cmocka_unit_test(at_the_end_names_are_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
