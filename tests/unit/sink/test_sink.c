/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/unit/cases.h"
#include "tests/unit/sink/made_view.h"

CASE(sinks_are_found_by_name)
{
	assert_ptr_equal(sink_by_name("folded"), &sink_folded);
	assert_ptr_equal(sink_by_name("html"), &sink_html);
	assert_ptr_equal(sink_by_name("firefox"), &sink_firefox);
	assert_ptr_equal(sink_by_name("pprof"), &sink_pprof);
	assert_ptr_equal(sink_by_name("speedscope"), &sink_speedscope);
	assert_ptr_equal(sink_by_name("script"), &sink_script);
	assert_ptr_equal(sink_by_name("summary"), &sink_summary);
	assert_ptr_equal(sink_by_name("json"), &sink_summary_json);
	assert_ptr_equal(sink_by_name("top"), &sink_top);
	assert_null(sink_by_name(""));
	assert_null(sink_by_name("fold"));
	assert_null(sink_by_name("foldedx"));
}

CASE(sinks_are_found_by_extension)
{
	assert_ptr_equal(sink_by_path("out.folded"), &sink_folded);
	assert_ptr_equal(sink_by_path("/tmp/a.b/flame.html"), &sink_html);
	assert_ptr_equal(sink_by_path("out.pb.gz"), &sink_pprof);
	assert_ptr_equal(sink_by_path("out.json.gz"), &sink_firefox);
	assert_ptr_equal(sink_by_path("out.speedscope.json"), &sink_speedscope);
	assert_ptr_equal(sink_by_path("out.txt"), &sink_script);
	assert_ptr_equal(sink_by_path("out.summary"), &sink_summary);
	assert_ptr_equal(sink_by_path("out.summary.json"), &sink_summary_json);
	assert_ptr_equal(sink_by_path(".html"), &sink_html);
	assert_null(sink_by_path("out.json")); /* several JSON formats are possible */
	assert_null(sink_by_path("html"));
	assert_null(sink_by_path("out.html.gz"));
	assert_null(sink_by_path(""));
}

CASE(every_sink_says_what_it_is)
{
	const struct sink_ops *const all[] = {&sink_firefox, &sink_speedscope,	 &sink_folded,
					      &sink_html,    &sink_pprof,	 &sink_script,
					      &sink_summary, &sink_summary_json, &sink_top};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		assert_ptr_equal(sink_by_name(all[i]->name), all[i]);
		assert_ptr_equal(sink_by_path(all[i]->extension), all[i]);
		assert_true(all[i]->create && all[i]->finish && all[i]->destroy);
	}
	assert_non_null(sink_script.sample);
}
