/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/unit/sink/made_ledger.h"

#include "base/scope.h"
#include "sink/write/json.h"
#include "tests/unit/cases.h"

static char *string_of(const char *s)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct json json = json_of(out, false);

	json_string(&json, s);
	fclose(out);
	return text;
}

static void check_string(const char *s, const char *expected)
{
	AUTO_FREE char *text = string_of(s);

	assert_string_equal(text, expected);
}

CASE(strings_are_escaped)
{
	check_string("", "\"\"");
	check_string("plain \xc3\xa9 \xf0\x9f\x94\xa5", "\"plain \xc3\xa9 \xf0\x9f\x94\xa5\"");
	check_string("\"\\/", "\"\\u0022\\u005c/\"");
	check_string("\x01\n\x7f", "\"\\u0001\\u000a\\u007f\"");
	check_string("</script><!--&", "\"\\u003c/script\\u003e\\u003c!--\\u0026\"");
	check_string("\xe2\x80\xa8\xe2\x80\xae\xc2\x85", "\"\\u2028\\u202e\\u0085\"");
	check_string("\xc2\xad\xf3\xa0\x81\x81", "\"\\u00ad\\udb40\\udc41\"");
}

/* Each invalid byte becomes one U+FFFD. */
CASE(what_is_not_utf8_is_replaced)
{
#define R "\xef\xbf\xbd"
	check_string("a\xff"
		     "b",
		     "\"a" R "b\"");
	check_string("\xc0\xaf", "\"" R R "\"");	     /* overlong */
	check_string("\xe0\x80\xaf", "\"" R R R "\"");	     /* overlong */
	check_string("\xed\xa0\x80", "\"" R R R "\"");	     /* surrogate */
	check_string("\xf4\x90\x80\x80", "\"" R R R R "\""); /* above U+10FFFF */
	check_string("\xf0\x9f\x94", "\"" R R R "\"");	     /* truncated */
	check_string("\xe2\x82x", "\"" R R "x\"");
	check_string("\x80\xbf", "\"" R R "\"");
#undef R
}

static void structure(struct json *json)
{
	json_begin(json, '{');
	json_member_number(json, "n", UINT64_MAX);
	json_key(json, "list");
	json_begin(json, '[');
	json_number(json, 0);
	json_string(json, "s");
	json_begin(json, '[');
	json_end(json, ']');
	json_begin(json, '{');
	json_member_string(json, "k", "v");
	json_end(json, '}');
	json_end(json, ']');
	json_key(json, "empty");
	json_begin(json, '{');
	json_end(json, '}');
	json_end(json, '}');
}

static char *structure_of(bool lines)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct json json = json_of(out, lines);

	structure(&json);
	fclose(out);
	return text;
}

CASE(commas_stand_between)
{
	AUTO_FREE char *compact = structure_of(false);
	AUTO_FREE char *lines = structure_of(true);

	assert_string_equal(
		compact,
		"{\"n\":18446744073709551615,\"list\":[0,\"s\",[],{\"k\":\"v\"}],\"empty\":{}}");
	assert_string_equal(lines, "{\n"
				   "\t\"n\": 18446744073709551615,\n"
				   "\t\"list\": [\n"
				   "\t\t0,\n"
				   "\t\t\"s\",\n"
				   "\t\t[],\n"
				   "\t\t{\n"
				   "\t\t\t\"k\": \"v\"\n"
				   "\t\t}\n"
				   "\t],\n"
				   "\t\"empty\": {}\n"
				   "}\n");
}

CASE(decimals_are_exact)
{
	AUTO_FREE char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct json json = json_of(out, false);

	json_begin(&json, '[');
	json_decimal(&json, 0, 6);
	json_decimal(&json, 1, 6);
	json_decimal(&json, 1500000, 6);
	json_decimal(&json, 2000000, 6);
	json_decimal(&json, 7, 0);
	json_decimal(&json, UINT64_MAX, 6);
	json_decimal(&json, UINT64_MAX, 19);
	json_literal(&json, "null");
	json_begin(&json, '{');
	json_member_literal(&json, "k", "true");
	json_end(&json, '}');
	json_end(&json, ']');
	fclose(out);
	assert_string_equal(text, "[0,0.000001,1.5,2,7,18446744073709.551615,"
				  "1.8446744073709551615,null,{\"k\":true}]");
}

#define NO_JIT                                                                                                       \
	"\"jit\":{\"methods\":0,\"code_bytes\":0,\"unloads\":0,\"inlines\":0,\"updates\":0,\"moves\":0,"             \
	"\"other_events\":0,\"late\":0,\"recovered\":0,\"published_shim\":0,\"published_jitdump\":0,"                \
	"\"published_perf_map\":0,\"published_jvmti\":0,\"published_memory\":0,\"merged\":0,\"inline_no_parent\":0," \
	"\"inline_outside\":0,"                                                                                      \
	"\"inline_overlap\":0,\"update_refused\":0,\"in_gap\":0,\"truncated\":0,\"incomplete\":0,\"malformed\":0,"   \
	"\"invalid\":0,\"over_budget\":0,\"evicted\":0,\"over_rate\":0,\"not_understood\":0,\"sequence_gaps\":0,"    \
	"\"left_out\":0,\"unreadable\":0,\"other_version\":0,\"replaced\":0,\"unchecked\":0,"                        \
	"\"replaced_samples\":0,\"time_corrected\":0}"

/* Remove white space between tokens. */
static void squeeze(char *text)
{
	char *to = text;

	for (char *c = text; *c; c++) {
		if (*c == '\n' || *c == '\t' || (*c == ' ' && c[-1] == ':'))
			continue;
		*to++ = *c;
	}
	*to = 0;
}

CASE(the_summary_is_an_object)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	m.info.command = "run \"it\"";
	made_process(&m, 42, "a<b", 5, 1, 2, 0);
	m.ledger.throttles = 1;
	m.ledger.throttled_ns = 77;
	m.ledger.samples.frame_pointers = m.ledger.processes.data[0].samples.frame_pointers = 3;
	m.ledger.counters[JITBPF_COUNT_SAMPLES_TAKEN] = 8;
	AUTO_FREE char *text = made_output(&m, &sink_summary_json);
	squeeze(text);
	assert_string_equal(
		text,
		"{\"version\":1,\"run\":{\"command\":\"run \\u0022it\\u0022\",\"event\":\"cpu-clock\","
		"\"freq_hz\":99,\"cpus\":2,\"host\":\"box\",\"kernel\":\"6.18.0\","
		"\"start_ns\":1000000000,\"wall_clock_ns\":1700000000000000000,"
		"\"duration_ns\":2500000000},"
		"\"samples\":{\"taken\":8,\"resolved\":5,\"code_unknown\":1,\"stack_cut\":2,\"lost\":0,"
		"\"cut\":{\"none\":0,\"root\":0,\"bad_frame\":2,\"unreadable\":0,\"depth\":0,"
		"\"compat\":0,\"no_rule\":0,\"copy\":0,\"no_room\":0,\"no_root\":0,\"frozen\":0,\"left_out\":0},"
		"\"frame_pointers\":3,\"runtime_functions\":0,\"runtime_cut\":0,\"runtime_unknown\":0,\"cut_unpublished\":0,\"named\":0}," NO_JIT
		",\"throttled\":{\"intervals\":1,\"ns\":77},"
		"\"total_unknown\":0,\"malformed_records\":0,\"counters\":{\"samples_taken\":8,\"samples_ring_full\":0,"
		"\"samples_no_scratch\":0,\"jit_hits\":0,\"jit_ring_full\":0,\"jit_unreadable\":0,"
		"\"jit_bad_size\":0,\"sideband_lost\":0,\"agent_no_memory\":0,"
		"\"files_unanswered\":0,\"files_over_budget\":0,"
		"\"mappings_over_budget\":0,\"debug_refused\":0,\"debug_dropped\":0,"
		"\"debug_splits_missing\":0,\"names_left_out\":0,\"jit_loss_unnoted\":0,"
		"\"shim_copies\":0,\"shims_refused\":0,\"shims_over_budget\":0,"
		"\"maps_cut\":0,\"stacks_finished\":0,\"stacks_late\":0,"
		"\"unwind_code_unread\":0,\"unwind_evicted\":0,"
		"\"unwind_mappings_left_out\":0,\"counters_unread\":0,\"jitdumps\":0,\"jitdumps_refused\":0,"
		"\"jitdumps_over_budget\":0,\"jitdump_late\":0,\"jitdumps_clock\":0,\"names_late\":0,"
		"\"loop_pauses\":0,\"loop_longest_ms\":0,"
		"\"probes_deferred\":0,\"processes_unanswered\":0,"
		"\"files_unverified\":0,\"readers_failed\":0,\"jit_over_share\":0,\"code_not_copied\":0,"
		"\"code_not_kept\":0,\"jitdumps_other_user\":0,\"jitdumps_other_process\":0,"
		"\"jitdumps_format\":0,\"jitdumps_malformed\":0,\"broker_lost\":0,"
		"\"files_gone\":0,"
		"\"waits_rows\":0,"
		"\"waits_rows_ms\":0,"
		"\"waits_loads\":0,"
		"\"waits_loads_late\":0,"
		"\"waits_loads_ms\":0,"
		"\"waits_checks\":0,"
		"\"waits_checks_late\":0,"
		"\"waits_checks_ms\":0,"
		"\"waits_ends\":0,"
		"\"waits_ends_ms\":0,"
		"\"waits_over_share\":0,"
		"\"waits_functions\":0,"
		"\"waits_functions_late\":0,"
		"\"waits_functions_ms\":0,"
		"\"runtime_frames_unknown\":0},"
		"\"processes\":[{\"pid\":42,\"comm\":\"a\\u003cb\",\"samples\":{\"taken\":8,"
		"\"resolved\":5,\"code_unknown\":1,\"stack_cut\":2,\"lost\":0,"
		"\"cut\":{\"none\":0,\"root\":0,\"bad_frame\":2,\"unreadable\":0,\"depth\":0,"
		"\"compat\":0,\"no_rule\":0,\"copy\":0,\"no_room\":0,\"no_root\":0,\"frozen\":0,\"left_out\":0},"
		"\"frame_pointers\":3,\"runtime_functions\":0,\"runtime_cut\":0,\"runtime_unknown\":0,\"cut_unpublished\":0,\"named\":0}," NO_JIT
		"}]}");
}

CASE(processes_go_by_samples_then_pid)
{
	CLEANUP(made_deinit) struct made_view m;

	made_init(&m);
	made_full_ledger(&m);
	AUTO_FREE char *text = made_output(&m, &sink_summary_json);
	char *engine = strstr(text, "\"pid\": 20,"), *tiny = strstr(text, "\"pid\": 10,"),
	     *small = strstr(text, "\"pid\": 30,");

	assert_true(engine && tiny && small && engine < tiny && tiny < small);
	assert_null(strstr(text, "\"idle\""));
}
