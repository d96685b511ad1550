/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The screen of `jitbpf top` without a terminal. */
#include "tests/unit/sink/made_view.h"

#include "base/hash.h"
#include "base/scope.h"
#include "base/utf8.h"
#include "profile/event_fates.h"
#include "sink/top/top_ui.h"
#include "tests/unit/cases.h"

#define ROWS	24
#define COLUMNS 100

struct screen {
	struct made_view m;
	struct top_ui *ui;
	struct top_canvas canvas;
};

static void screen_deinit(struct screen *s)
{
	top_ui_destroy(s->ui);
	top_canvas_deinit(&s->canvas);
	made_deinit(&s->m);
}

/* Count samples of a thread of process number `process`. */
static void count(struct screen *s, uint32_t process, uint32_t tid, uint64_t samples,
		  uint32_t stack_size, const uint32_t *stack)
{
	struct made_view *m = &s->m;
	const struct sampled_thread thread = {10 + process, tid, made_string(m, "worker")};
	uint32_t node =
		made_stack(m, process, process ? "java" : "php", samples, stack_size, stack);
	uint32_t number, ignored;

	while (m->ledger.processes.size <= process) {
		struct ledger_process row = {.pid = 10 + (uint32_t)m->ledger.processes.size};

		row.comm = made_string(m, m->ledger.processes.size ? "java" : "php");
		assert_int_equal(vec_push(&m->ledger.processes, row), 0);
	}
	assert_int_equal(thread_counts_thread(&m->threads, &thread, &number), 0);
	assert_int_equal(thread_counts_add(&m->threads, node, number, samples, &ignored), 0);
	m->ledger.samples.fate[FATE_RESOLVED] += samples;
}

/* The same name gives the same location. */
static uint32_t function(struct screen *s, const char *name)
{
	uint64_t offset = hash_bytes(name, strlen(name), 0);
	uint32_t location = made_location(&s->m, LOCATION_JIT, 0, offset), frames;
	struct frame frame = made_frame(&s->m, FRAME_KIND_JIT, name, "");

	if (!frame_table_get(s->m.frames, location, &frames))
		assert_int_equal(frame_table_set(s->m.frames, location, &frame, 1), 0);
	return location;
}

static uint32_t numbered(struct screen *s, uint32_t number)
{
	uint32_t location = made_location(&s->m, LOCATION_JIT, 1, number), frames;
	struct frame frame;
	char name[20];

	snprintf(name, sizeof(name), "big%u", number);
	frame = made_frame(&s->m, FRAME_KIND_JIT, name, "");
	if (!frame_table_get(s->m.frames, location, &frames))
		assert_int_equal(frame_table_set(s->m.frames, location, &frame, 1), 0);
	return location;
}

static void draw(struct screen *s)
{
	assert_int_equal(top_ui_draw(s->ui, ROWS, COLUMNS, &s->canvas), 0);
	assert_int_equal(s->canvas.lines.size, ROWS);
}

static void update(struct screen *s)
{
	assert_int_equal(top_ui_update(s->ui, &s->m.view), 0);
	draw(s);
}

static void press(struct screen *s, uint32_t key)
{
	assert_int_equal(top_ui_key(s->ui, key), 0);
	if (!top_ui_quits(s->ui))
		assert_int_equal(top_ui_draw(s->ui, ROWS, COLUMNS, &s->canvas), 0);
}

static void type(struct screen *s, const char *words)
{
	for (uint32_t bytes; *words; words += bytes)
		press(s, utf8_next(words, &bytes));
}

/* Returns the number of the line that contains words, or -1. */
static int line_with(struct screen *s, const char *words)
{
	for (size_t i = 0; i < s->canvas.lines.size; i++) {
		const struct text *text = &s->canvas.lines.data[i].text;

		if (memmem(text->bytes.data ?: "", text->bytes.size, words, strlen(words)))
			return (int)i;
	}
	return -1;
}

static int selected(struct screen *s)
{
	for (size_t i = 0; i < s->canvas.lines.size; i++) {
		if (s->canvas.lines.data[i].style == TOP_SELECTED)
			return (int)i;
	}
	return -1;
}

static void screen_init(struct screen *s)
{
	*s = (struct screen){0};
	made_init(&s->m);
	assert_int_equal(top_ui_create(&s->m.view.options, &s->ui), 0);
}

/* Two processes: php has render, which calls sort; java has hash. */
static void shop_init(struct screen *s)
{
	screen_init(s);
	count(s, 0, 10, 50, STACK(function(s, "Shop::render")));
	count(s, 0, 12, 40, STACK(function(s, "Shop::sort"), function(s, "Shop::render")));
	count(s, 1, 11, 30, STACK(function(s, "Map.hash")));
	update(s);
}

/* Count samples of a thread in a container. */
static void count_in(struct screen *s, uint32_t process, const char *container, uint64_t samples)
{
	struct made_view *m = &s->m;
	size_t before = m->threads.threads.size;

	count(s, process, 20 + (uint32_t)before, samples, STACK(function(s, "Shop::render")));
	m->threads.threads.data[before].container = made_string(m, container);
}

/* The containers are above the processes, with the samples that are shown. */
CASE(containers_are_the_roots_of_the_tree)
{
	CLEANUP(screen_deinit) struct screen s = {0};

	made_init(&s.m);
	s.m.view.options.by = VIEW_BY_CONTAINER;
	assert_int_equal(top_ui_create(&s.m.view.options, &s.ui), 0);
	count_in(&s, 0, "web", 30);
	count_in(&s, 0, "shop", 50);
	count_in(&s, 1, "web", 20);
	update(&s);
	press(&s, '3');
	assert_true(line_with(&s, "web") >= 0 && line_with(&s, "shop") >= 0);
	assert_true(line_with(&s, "php") > line_with(&s, "shop"));
	assert_int_equal(s.m.view.threads->counts.data[0].samples, 30);
	press(&s, 'z'); /* begin anew: only what comes now */
	count_in(&s, 1, "later", 5);
	update(&s);
	assert_true(line_with(&s, "later") >= 0);
	assert_int_equal(line_with(&s, "shop"), -1);
}

CASE(the_selection_stays_while_rows_move)
{
	CLEANUP(screen_deinit) struct screen s;
	int line;

	shop_init(&s);
	assert_true(line_with(&s, "Shop::render") < line_with(&s, "Shop::sort"));
	press(&s, TOP_KEY_DOWN);
	press(&s, TOP_KEY_DOWN);
	assert_int_equal(selected(&s), line_with(&s, "Map.hash"));
	count(&s, 1, 11, 1000, STACK(function(&s, "Map.hash"))); /* now the first one */
	update(&s);
	assert_int_equal(selected(&s), line_with(&s, "Map.hash"));
	assert_true(line_with(&s, "Map.hash") < line_with(&s, "Shop::render"));
	/* Among many rows, it also keeps its line. */
	for (uint32_t i = 0; i < 200; i++)
		count(&s, 0, 10, i < 100 ? 1 : 2000 + i, STACK(numbered(&s, i)));
	update(&s);
	line = selected(&s);
	assert_int_equal(line, line_with(&s, "Map.hash"));
	for (uint32_t i = 0; i < 60; i++)
		count(&s, 0, 10, 5000, STACK(numbered(&s, i)));
	update(&s);
	assert_int_equal(selected(&s), line);
	assert_int_equal(line_with(&s, "Map.hash"), line);
}

CASE(filters_leave_what_they_name)
{
	CLEANUP(screen_deinit) struct screen s;

	shop_init(&s);
	type(&s, "P11\n");
	assert_int_equal(line_with(&s, "Shop::render"), -1);
	assert_int_not_equal(line_with(&s, "100.00%      30  100.00%      30  jit"), -1);
	type(&s, "P\nT12\n");
	assert_int_equal(line_with(&s, "Map.hash"), -1);
	assert_int_not_equal(line_with(&s, "100.00%      40  100.00%      40  jit"), -1);
	type(&s, "T\nCJAVA\n"); /* in any case; of processes, too */
	assert_int_equal(line_with(&s, "Shop::render"), -1);
	assert_int_not_equal(line_with(&s, "Map.hash"), -1);
	press(&s, TOP_KEY_ESCAPE);
	type(&s, "fsor[t]$\n");
	assert_int_equal(line_with(&s, "Shop::render"), -1);
	assert_int_not_equal(line_with(&s, "Shop::sort"), -1);
	type(&s, "f[\n");
	assert_int_not_equal(line_with(&s, "no regular expression"), -1);
	type(&s, "Pmany\n");
	assert_int_not_equal(line_with(&s, "this is no number"), -1);
}

CASE(any_script_can_be_typed)
{
	CLEANUP(screen_deinit) struct screen s;

	shop_init(&s);
	type(&s, "/é関😀x");
	assert_int_not_equal(line_with(&s, "search: é関😀x_"), -1);
	press(&s, TOP_KEY_BACKSPACE);
	press(&s, TOP_KEY_BACKSPACE);
	press(&s, TOP_KEY_BACKSPACE);
	assert_int_not_equal(line_with(&s, "search: é_"), -1);
	for (int i = 0; i < 300; i++)
		type(&s, "😀");
	press(&s, TOP_KEY_ESCAPE);
	assert_int_equal(line_with(&s, "search:"), -1);
}

CASE(the_tree_opens_and_closes)
{
	CLEANUP(screen_deinit) struct screen s;
	int line;

	shop_init(&s);
	press(&s, '3');
	assert_int_not_equal(line_with(&s, "Shop::sort"),
			     -1); /* nodes with many samples are open */
	type(&s, "/render\n");
	line = selected(&s);
	assert_int_equal(line, line_with(&s, "Shop::render"));
	press(&s, TOP_KEY_LEFT);
	assert_int_equal(line_with(&s, "Shop::sort"), -1);
	assert_int_not_equal(line_with(&s, "+ Shop::render"), -1);
	update(&s);
	assert_int_equal(line_with(&s, "Shop::sort"), -1); /* it stays closed */
	press(&s, TOP_KEY_LEFT);			   /* to the process */
	assert_int_equal(selected(&s), line_with(&s, "php"));
	type(&s, "/sort\n"); /* is revealed */
	assert_int_equal(selected(&s), line_with(&s, "Shop::sort"));
	press(&s, '2');
	type(&s, "/hash\n\n"); /* Enter: its place in the tree */
	assert_int_not_equal(line_with(&s, "[3 tree]"), -1);
	assert_int_equal(selected(&s), line_with(&s, "Map.hash"));
}

/* The search knows all names of a function's code, also those that come later. */
CASE(a_search_finds_names_in_full)
{
	CLEANUP(screen_deinit) struct screen s;

	shop_init(&s);
	count(&s, 0, 10, 1, STACK(function(&s, "Shop$$Lambda/0x1.run")));
	update(&s);
	press(&s, '2');
	type(&s, "/0x2\n");
	assert_int_not_equal(selected(&s), line_with(&s, "Shop$$Lambda"));
	count(&s, 0, 10, 1, STACK(function(&s, "Shop$$Lambda/0x2.run")));
	update(&s);
	assert_int_not_equal(line_with(&s, "Shop$$Lambda.run"), -1);
	type(&s, "/0x2\n");
	assert_int_equal(selected(&s), line_with(&s, "Shop$$Lambda.run"));
}

CASE(a_pause_keeps_the_screen)
{
	CLEANUP(screen_deinit) struct screen s;

	shop_init(&s);
	press(&s, 'p');
	count(&s, 0, 10, 500, STACK(function(&s, "Shop::late")));
	update(&s);
	assert_int_equal(line_with(&s, "Shop::late"), -1);
	press(&s, 'p');
	assert_int_not_equal(line_with(&s, "Shop::late"), -1);
}

CASE(only_new_samples)
{
	CLEANUP(screen_deinit) struct screen s;

	shop_init(&s);
	press(&s, 'z');
	assert_int_equal(line_with(&s, "Shop::render"), -1);
	count(&s, 1, 11, 7, STACK(function(&s, "Map.hash")));
	update(&s);
	assert_int_not_equal(line_with(&s, "100.00%       7"), -1);
	press(&s, 'z');
	assert_int_not_equal(line_with(&s, "Shop::render"), -1);
}

/* The key e shows the samples of the next event; z counts for all events. */
CASE(each_event_in_turn)
{
	struct run_info info;
	struct ledger ledger = {0};
	struct profile profile = {0};
	struct thread_counts threads = {0};
	CLEANUP(screen_deinit) struct screen s;
	const struct view *by_event[2] = {&s.m.view};
	struct view faults;
	uint32_t node, number, count;

	shop_init(&s);
	press(&s, 'e');
	assert_int_not_equal(line_with(&s, "this run samples CPU time only"), -1);
	s.m.info.more_events = 1;
	s.m.info.events[0] = (struct run_event){"page-faults", "faults", 97};
	info = s.m.info;
	info.event = "page-faults";
	info.unit = "faults";
	info.period = 97;
	faults = s.m.view;
	faults.event = 1;
	faults.info = &info;
	faults.ledger = &ledger;
	faults.profile = &profile;
	faults.threads = &threads;
	faults.by_event = s.m.view.by_event = by_event;
	by_event[1] = &faults;
	assert_int_equal(event_rows_ledger(&(struct event_rows){0}, &s.m.ledger, &ledger), 0);
	assert_int_equal(profile_node_of(&profile, 0, made_string(&s.m, "php"),
					 (uint32_t[]){function(&s, "touch")}, 1, &node),
			 0);
	profile_count(&profile, node, 5);
	assert_int_equal(thread_counts_thread(
				 &threads, &(struct sampled_thread){.pid = 10, .tid = 10}, &number),
			 0);
	assert_int_equal(thread_counts_add(&threads, node, number, 5, &count), 0);
	update(&s);
	assert_int_not_equal(line_with(&s, "Shop::render"), -1);
	assert_int_equal(line_with(&s, "touch"), -1);
	press(&s, 'e');
	assert_int_not_equal(line_with(&s, "of page-faults, a sample for each 97 faults, 2 CPUs"),
			     -1);
	assert_int_not_equal(line_with(&s, "100.00%       5"), -1);
	assert_int_equal(line_with(&s, "Shop::render"), -1);
	/* The event stays while views come, and only new samples are of each event. */
	update(&s);
	assert_int_not_equal(line_with(&s, "touch"), -1);
	press(&s, 'z');
	assert_int_equal(line_with(&s, "touch"), -1);
	threads.counts.data[count].samples += 2;
	profile_count(&profile, node, 2);
	update(&s);
	assert_int_not_equal(line_with(&s, "100.00%       2"), -1);
	press(&s, 'e');
	assert_int_equal(line_with(&s, "Shop::render"), -1);
	press(&s, 'z');
	assert_int_not_equal(line_with(&s, "Shop::render"), -1);
	thread_counts_deinit(&threads);
	profile_deinit(&profile);
	ledger_deinit(&ledger);
}

/* A sample of the second process, that long after the start. */
static void hash_at(struct screen *s, uint64_t since_ns)
{
	struct made_view *m = &s->m;

	count(s, 1, 11, 1, STACK(function(s, "Map.hash")));
	assert_int_equal(
		time_slices_add(&m->slices, since_ns, (uint32_t)m->threads.counts.size - 1, 1), 0);
}

CASE(a_window_has_the_last_samples)
{
	const uint64_t second = 1000000000;
	CLEANUP(screen_deinit) struct screen s;

	shop_init(&s); /* of which no times are known */
	for (uint64_t at = 0; at < 100; at += 2)
		hash_at(&s, at * second);
	s.m.info.duration_ns = 100 * second;
	update(&s);
	assert_int_equal(line_with(&s, " last "), -1);
	press(&s, 'w');
	assert_int_not_equal(line_with(&s, "last 60 s"), -1);
	assert_int_not_equal(line_with(&s, "100.00%      30"), -1);
	assert_int_equal(line_with(&s, "Shop::render"), -1);
	press(&s, 'w');
	assert_int_not_equal(line_with(&s, "last 10 s"), -1);
	assert_int_not_equal(line_with(&s, "100.00%       5"), -1);
	s.m.info.duration_ns = 105 * second; /* it moves, also without samples */
	update(&s);
	assert_int_not_equal(line_with(&s, "100.00%       2"), -1);
	press(&s, 'z');
	hash_at(&s, 105 * second);
	update(&s);
	assert_int_not_equal(line_with(&s, "100.00%       1"), -1);
	press(&s, 'z');
	press(&s, TOP_KEY_ESCAPE); /* no filter */
	assert_int_not_equal(line_with(&s, "last 10 s"), -1);
	press(&s, 'w');
	assert_int_not_equal(line_with(&s, "Shop::render"), -1);
}

CASE(a_process_is_chosen)
{
	CLEANUP(screen_deinit) struct screen s;

	shop_init(&s);
	press(&s, '1');
	assert_int_equal(selected(&s), line_with(&s, "php"));
	press(&s, TOP_KEY_DOWN);
	press(&s, TOP_KEY_ENTER);
	assert_int_not_equal(line_with(&s, "[2 functions]"), -1);
	assert_int_not_equal(line_with(&s, "process 11"), -1);
	assert_int_equal(line_with(&s, "Shop::render"), -1);
	press(&s, 'q');
	assert_true(top_ui_quits(s.ui));
}

/* Check lines: they fit, and control nothing. */
static void check_lines(const struct top_canvas *canvas, uint32_t columns)
{
	vec_for_each (line, &canvas->lines) {
		uint32_t used = 0, bytes;
		AUTO_FREE char *text = strndup(line->text.bytes.data ?: "", line->text.bytes.size);

		for (const char *at = text; *at; at += bytes) {
			uint32_t code = utf8_next(at, &bytes);

			assert_int_not_equal(code, UTF8_INVALID);
			assert_false(utf8_is_control(code));
			assert_int_not_equal(utf8_columns(code), 0);
			used += utf8_columns(code);
		}
		assert_true(used <= columns);
	}
}

CASE(any_name_fits_any_screen)
{
	static const uint32_t keys[] = {'1', '2', '3', 'n', '?', ' ', 's', TOP_KEY_END, 'K', '\t'};
	static char large[10001];

	memset(large, 'W', sizeof(large) - 1);
	for (size_t i = 0; i <= MADE_NASTY_COUNT; i++) {
		CLEANUP(screen_deinit) struct screen s;
		const char *name = i < MADE_NASTY_COUNT ? made_nasty_names[i] : large;

		screen_init(&s);
		s.m.info.command = name;
		count(&s, 0, 10, 5, STACK(made_named(&s.m, LOCATION_JIT, 1, name, name)));
		s.m.ledger.processes.data[0].comm = made_string(&s.m, name);
		update(&s);
		for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++) {
			press(&s, keys[k]);
			for (uint32_t rows = 1; rows < 30; rows += 7) {
				assert_int_equal(top_ui_draw(s.ui, rows, 61, &s.canvas), 0);
				check_lines(&s.canvas, 61);
				assert_int_equal(top_ui_draw(s.ui, rows, 40, &s.canvas), 0);
				check_lines(&s.canvas, 40);
			}
		}
	}
}

/* Of a narrow screen, names get most. */
CASE(names_have_room)
{
	CLEANUP(screen_deinit) struct screen s;

	screen_init(&s);
	count(&s, 0, 10, 1234567, STACK(function(&s, "Shop::theBasket")));
	update(&s);
	for (uint32_t columns = 48; columns < 100; columns += 13) {
		assert_int_equal(top_ui_draw(s.ui, ROWS, columns, &s.canvas), 0);
		assert_int_not_equal(line_with(&s, "Shop::theBasket"), -1);
		assert_int_equal(line_with(&s, "1,234,567  100") == -1, columns < 60);
		check_lines(&s.canvas, columns);
	}
}

/* As the summary does: what a runtime's functions are in, or why they are not shown. */
CASE(runtimes_have_a_line)
{
	static const struct engine_file python = {.engine = &engine_cpython,
						  .version = {.part = {3, 15}, .parts = 2}};
	CLEANUP(screen_deinit) struct screen s;
	struct ledger_process *php;
	int rows, tabs;

	shop_init(&s);
	tabs = line_with(&s, "2 functions");
	rows = line_with(&s, "Shop::render");
	php = &s.m.ledger.processes.data[0];
	php->samples.fate[FATE_RESOLVED] = 90;
	php->runtimes[0] = engine_runtime_with_status(engine_runtime_number(&python),
						      JITBPF_RUNTIME_OTHER_VERSION);
	update(&s);
	assert_int_equal(line_with(&s, "CPython 3.15: its functions are not shown: this version "
				       "or build is not known"),
			 tabs);
	assert_int_equal(line_with(&s, "Shop::render"), rows + 1);
	php->runtimes[0] = engine_runtime_with_status(php->runtimes[0], JITBPF_RUNTIME_SHOWN);
	php->samples.runtime_functions = php->samples.fate[FATE_RESOLVED];
	update(&s);
	assert_int_equal(line_with(&s, "its functions are in 100.0 % of the samples"), tabs);
	check_lines(&s.canvas, COLUMNS);
}

/* The column of named samples is the first that a narrow screen lacks. */
CASE(named_samples_have_a_column)
{
	CLEANUP(screen_deinit) struct screen s;

	shop_init(&s);
	count(&s, 0, 10, 30, STACK(made_location(&s.m, LOCATION_JIT, 2, 1)));
	update(&s);
	press(&s, '1');
	for (uint32_t columns = 60; columns < 100; columns++) {
		bool shown = columns >= 77;

		assert_int_equal(top_ui_draw(s.ui, ROWS, columns, &s.canvas), 0);
		assert_int_equal(line_with(&s, "    NAMED  RESOLVED") != -1, shown);
		assert_int_equal(line_with(&s, "        120     75.0%") != -1, shown);
		assert_int_equal(line_with(&s, "         30    100.0%") != -1, shown);
		assert_int_not_equal(line_with(&s, "JIT METHODS"), -1);
		check_lines(&s.canvas, columns);
	}
}

/* Words of the help are never cut, only its end is. */
CASE(the_help_is_whole)
{
	CLEANUP(screen_deinit) struct screen s;

	shop_init(&s);
	press(&s, '?');
	for (uint32_t columns = 45; columns < 100; columns += 35) {
		assert_int_equal(top_ui_draw(s.ui, 100, columns, &s.canvas), 0);
		check_lines(&s.canvas, columns);
		assert_int_equal(line_with(&s, "..."), -1);
		assert_int_not_equal(line_with(&s, "key continues."), -1);
	}
	assert_int_equal(top_ui_draw(s.ui, 3, 45, &s.canvas), 0);
	assert_int_equal(s.canvas.lines.size, 3);
}

CASE(any_keys_are_harmless)
{
	CLEANUP(screen_deinit) struct screen s;
	uint32_t seed = 1;

	shop_init(&s);
	for (int i = 0; i < 20000; i++) {
		uint32_t key;

		seed = seed * 1103515245 + 12345;
		key = seed >> 16 & 0xff;
		if (key == 'q')
			continue;
		assert_int_equal(top_ui_key(s.ui, key > 0xe0 ? TOP_KEY_UP + key % 10 : key), 0);
		if (i % 50 == 0)
			assert_int_equal(top_ui_update(s.ui, &s.m.view), 0);
	}
	press(&s, TOP_KEY_ESCAPE);
	press(&s, TOP_KEY_ESCAPE);
	check_lines(&s.canvas, COLUMNS);
}

CASE(nothing_has_come_yet)
{
	CLEANUP(screen_deinit) struct screen s;

	screen_init(&s);
	draw(&s);
	for (uint32_t key = 1; key < 127; key++) {
		if (key != 'q')
			press(&s, key);
	}
}
