/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <string.h>

#include "base/scope.h"
#include "engines/engines.h"
#include "tests/unit/cases.h"

CASE(test_php_hosts)
{
	static const char *const hosts[] = {"/usr/bin/php8.2", "php-fpm", "/opt/frankenphp",
					    "/usr/lib/libphp8.2.so", "/modules/mod_php.so"};
	static const char *const others[] = {"/usr/lib/php/opcache.so", "/php/phpiredis.so",
					     "/php/node", "/usr/lib/libdnnl.so.2", ""};

	for (size_t i = 0; i < ARRAY_SIZE(hosts); i++)
		assert_ptr_equal(engine_of_host(hosts[i]), &engine_php);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_null(engine_of_host(others[i]));
	assert_ptr_equal(engine_of_plugin(others[0]), &engine_php);
	for (size_t i = 1; i < ARRAY_SIZE(others); i++)
		assert_null(engine_of_plugin(others[i]));
	assert_null(engine_of_plugin(hosts[0]));
}

CASE(test_frames)
{
	assert_int_equal(engine_frames_of("Interpreter"), ENGINE_FRAMES_INTERPRETER);
	assert_int_equal(engine_frames_of("Interpreter.run"), ENGINE_FRAMES_ONE);
	assert_int_equal(engine_frames_of("ExceptionBlob"), ENGINE_FRAMES_PUSHED);
	assert_int_equal(engine_frames_of("cont_returnBarrier"), ENGINE_FRAMES_RETURNED_TO);
	assert_int_equal(engine_frames_of("jdk.internal.vm.Continuation.enterSpecial"),
			 ENGINE_FRAMES_FIRST);
	assert_int_equal(engine_frames_of("Cont thaw return barrier exception"),
			 ENGINE_FRAMES_RETURNED_TO);
	assert_int_equal(engine_frames_of("Cont thaw"), ENGINE_FRAMES_ANY);
	assert_int_equal(engine_frames_of("itable stub"), ENGINE_FRAMES_ANY);
	assert_int_equal(engine_frames_of(""), ENGINE_FRAMES_ANY);
}

/* Each setting is complete, and engines do not contradict each other. */
CASE(test_settings)
{
	const char *names[64];
	const struct engine *engine;
	size_t count = 0;

	for (size_t at = 0; (engine = engine_at(at)); at++) {
		assert_true(*engine->name);
		for (size_t i = 0; i < engine->setting_count; i++) {
			const struct engine_setting *setting = &engine->settings[i];

			assert_true(setting->text || setting->debug_text ||
				    setting->kind == ENGINE_SETTING_SHIM);
			assert_true(setting->kind == ENGINE_SETTING_TEXT || !setting->debug_text);
			assert_true(setting->rule == ENGINE_SETTING_DEFAULT || !setting->follows);
			for (size_t before = 0; before < count; before++)
				assert_string_not_equal(setting->name, names[before]);
			assert_true(count < ARRAY_SIZE(names));
			names[count++] = setting->name;
		}
	}
	assert_true(count >= 7);
	assert_null(engine_at(SIZE_MAX));
}

/* An engine with a host names the function where its code is entered. */
CASE(test_hosts_are_complete)
{
	const struct engine *engine;

	for (size_t at = 0; (engine = engine_at(at)); at++) {
		assert_int_equal(engine->is_host != NULL, engine->entry_symbol != NULL);
		assert_int_equal(engine->processes[0] != NULL, engine->advice != NULL);
		assert_true(engine->is_host || !engine->is_plugin);
	}
}

CASE(test_prefixes)
{
	assert_int_equal(engine_name_prefix_bytes("cfunc._Z3hotv"), 6);
	assert_int_equal(engine_name_prefix_bytes("._Z3hotv"), 1);
	assert_int_equal(engine_name_prefix_bytes("_Z3hot._Zv"), 0);
	assert_int_equal(engine_name_prefix_bytes("hot"), 0);
	assert_int_equal(engine_name_prefix_bytes(""), 0);
}

CASE(test_respelling)
{
	static const struct {
		const char *name;
		bool had_prefix;
		const char *meant;
	} names[] = {
		{"f[abi:v2](Array<double, 1, C, mutable, aligned>)", false,
		 "f(Array<double, 1, C>)"},
		{"outer::_3clocals_3e::inner()", false, "outer::<locals>::inner()"},
		{"f_3cx_3e()", true, "f<x>()"},
		/* Names of other engines are unchanged. */
		{"f_3cx_3e()", false, "f_3cx_3e()"},
		{"foo::bar[abi:cxx11]()", false, "foo::bar[abi:cxx11]()"},
		{"", true, ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char text[128];

		strcpy(text, names[i].name);
		engine_respell(text, names[i].had_prefix);
		assert_string_equal(text, names[i].meant);
	}
}

CASE(test_unnumbering)
{
	static const struct {
		const char *name, *meant;
	} names[] = {
		{"TRACE-1$mandelbrot$14", "TRACE$mandelbrot$14"},
		{"TRACE-123$A\\B::f$7", "TRACE$A\\B::f$7"},
		{"ESCAPE-12-3", "ESCAPE"},
		{"TRACE-1$a$b$2", "TRACE$a$b$2"},
		/* Nothing else tells such functions apart. */
		{"TRACE-1", "TRACE-1"},
		{"TRACE-1-2", "TRACE-1-2"},
		{"TRACE-1$f", "TRACE-1$f"},
		{"TRACE-1$f$", "TRACE-1$f$"},
		{"TRACE-1$f$2x", "TRACE-1$f$2x"},
		{"TRACE-1-2$f$3", "TRACE-1-2$f$3"},
		{"TRACE--$f$3", "TRACE--$f$3"},
		{"TRACE-1$3", "TRACE-1$3"},
		{"TRACE-1$$3", "TRACE-1$$3"},
		{"ESCAPE-1", "ESCAPE-1"},
		{"ESCAPE-1-2-3", "ESCAPE-1-2-3"},
		{"ESCAPE-1-2$f$3", "ESCAPE-1-2$f$3"},
		{"TRACE-", "TRACE-"},
		{"TRACE-x$f$1", "TRACE-x$f$1"},
		{"TRACE-1f", "TRACE-1f"},
		{"JIT$A::f", "JIT$A::f"},
		{"", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char text[128];

		strcpy(text, names[i].name);
		engine_unnumber(text);
		assert_string_equal(text, names[i].meant);
	}
}
