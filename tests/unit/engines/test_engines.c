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

struct function_row {
	const char *name, *function;
	enum code_tier tier;
};

static void check_functions(const struct function_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char text[160];
		enum code_tier tier;

		strcpy(text, rows[i].name);
		tier = engine_to_function(text);
		assert_string_equal(text, rows[i].function);
		assert_int_equal(tier, rows[i].tier);
	}
}

CASE(traces_of_php_are_functions)
{
	static const struct function_row rows[] = {
		{"TRACE-1$mandelbrot$14", "TRACE$mandelbrot$14", CODE_TIER_TRACE},
		{"TRACE-123$A\\B::f$7", "TRACE$A\\B::f$7", CODE_TIER_TRACE},
		{"ESCAPE-12-3", "ESCAPE", CODE_TIER_GENERATED},
		{"TRACE-1$a$b$2", "TRACE$a$b$2", CODE_TIER_TRACE},
		/* Nothing else tells such functions apart. */
		{"TRACE-1", "TRACE-1", CODE_TIER_PLAIN},
		{"TRACE-1-2", "TRACE-1-2", CODE_TIER_PLAIN},
		{"TRACE-1$f", "TRACE-1$f", CODE_TIER_PLAIN},
		{"TRACE-1$f$", "TRACE-1$f$", CODE_TIER_PLAIN},
		{"TRACE-1$f$2x", "TRACE-1$f$2x", CODE_TIER_PLAIN},
		{"TRACE-1-2$f$3", "TRACE-1-2$f$3", CODE_TIER_PLAIN},
		{"TRACE--$f$3", "TRACE--$f$3", CODE_TIER_PLAIN},
		{"TRACE-1$3", "TRACE-1$3", CODE_TIER_PLAIN},
		{"TRACE-1$$3", "TRACE-1$$3", CODE_TIER_PLAIN},
		{"ESCAPE-1", "ESCAPE-1", CODE_TIER_PLAIN},
		{"ESCAPE-1-2-3", "ESCAPE-1-2-3", CODE_TIER_PLAIN},
		{"ESCAPE-1-2$f$3", "ESCAPE-1-2$f$3", CODE_TIER_PLAIN},
		{"TRACE-", "TRACE-", CODE_TIER_PLAIN},
		{"TRACE-x$f$1", "TRACE-x$f$1", CODE_TIER_PLAIN},
		{"TRACE-1f", "TRACE-1f", CODE_TIER_PLAIN},
		{"JIT$A::f", "JIT$A::f", CODE_TIER_PLAIN},
		{"", "", CODE_TIER_PLAIN},
	};

	check_functions(rows, ARRAY_SIZE(rows));
}

/* Names of Java 8, 17, 21 and 25. */
CASE(code_that_java_generates_has_no_numbers)
{
	static const struct function_row rows[] = {
		{"pkg.Main$$Lambda/0x00007f12ac000a00.run", "pkg.Main$$Lambda.run",
		 CODE_TIER_GENERATED},
		{"Main$$Lambda$14/0x0000000800c03000.apply(java.lang.Object)",
		 "Main$$Lambda.apply(java.lang.Object)", CODE_TIER_GENERATED},
		{"Main$$Lambda$1/1023892928.run", "Main$$Lambda.run", CODE_TIER_GENERATED},
		{"java.lang.invoke.LambdaForm$MH/0x0d018458.invoke",
		 "java.lang.invoke.LambdaForm$MH.invoke", CODE_TIER_GENERATED},
		{"java.lang.invoke.LambdaForm$DMH/2036368507.invokeStatic_L_V",
		 "java.lang.invoke.LambdaForm$DMH.invokeStatic_L_V", CODE_TIER_GENERATED},
		{"java.lang.String$$StringConcat/0x00007f6c.concat",
		 "java.lang.String$$StringConcat.concat", CODE_TIER_GENERATED},
		{"jdk.internal.reflect.GeneratedMethodAccessor12.invoke",
		 "jdk.internal.reflect.GeneratedMethodAccessor.invoke", CODE_TIER_GENERATED},
		{"sun.reflect.GeneratedConstructorAccessor3.newInstance",
		 "sun.reflect.GeneratedConstructorAccessor.newInstance", CODE_TIER_GENERATED},
		{"jdk.proxy2.$Proxy17.equals", "jdk.proxy.$Proxy.equals", CODE_TIER_GENERATED},
		{"com.sun.proxy.$Proxy5.f", "com.sun.proxy.$Proxy.f", CODE_TIER_GENERATED},
		{"$Proxy5.f", "$Proxy.f", CODE_TIER_GENERATED},
		/* Code of the user, in source order. */
		{"Main.lambda$main$0", "Main.lambda$main$0", CODE_TIER_PLAIN},
		{"Main$1.run", "Main$1.run", CODE_TIER_PLAIN},
		{"Main$Proxy1.f", "Main$Proxy1.f", CODE_TIER_PLAIN},
		{"jdk.proxy2.Main.f", "jdk.proxy2.Main.f", CODE_TIER_PLAIN},
		{"Main$$Lambda.run", "Main$$Lambda.run", CODE_TIER_PLAIN},
		{"Main$$Lambda$14", "Main$$Lambda$14", CODE_TIER_PLAIN},
		{"Main$$LambdaLike14.f", "Main$$LambdaLike14.f", CODE_TIER_PLAIN},
		{"my.java.lang.invoke.LambdaForm$MH.f", "my.java.lang.invoke.LambdaForm$MH.f",
		 CODE_TIER_PLAIN},
		/* A hidden class of anybody: its address may be all that tells two apart. */
		{"Script/0x00007f12ac000a00.run", "Script/0x00007f12ac000a00.run", CODE_TIER_PLAIN},
	};

	check_functions(rows, ARRAY_SIZE(rows));
}

/* Names of Node.js 20. */
CASE(tiers_of_v8_are_one_function)
{
	static const struct function_row rows[] = {
		{"JS:*fib /srv/server.js:2:13", "JS:fib /srv/server.js:2:13", CODE_TIER_OPTIMIZED},
		{"JS:+fib /srv/server.js:2:13", "JS:fib /srv/server.js:2:13", CODE_TIER_OPTIMIZED},
		{"JS:^fib /srv/server.js:2:13", "JS:fib /srv/server.js:2:13", CODE_TIER_BASELINE},
		{"JS:~fib /srv/server.js:2:13", "JS:fib /srv/server.js:2:13",
		 CODE_TIER_INTERPRETED},
		{"JS:^ node:internal/timers:12:3", "JS: node:internal/timers:12:3",
		 CODE_TIER_BASELINE},
		{"JS:fib /srv/server.js:2:13", "JS:fib /srv/server.js:2:13", CODE_TIER_PLAIN},
		{"JS:*fib", "JS:*fib", CODE_TIER_OPTIMIZED},
		{"JS:*fib :2:", "JS:*fib :2:", CODE_TIER_OPTIMIZED},
		{"JS:*fib 2:13", "JS:*fib 2:13", CODE_TIER_OPTIMIZED},
		{"JS:", "JS:", CODE_TIER_PLAIN},
		{"JS:*", "JS:*", CODE_TIER_OPTIMIZED},
		{"Builtin:^f a.js:1:2", "Builtin:^f a.js:1:2", CODE_TIER_PLAIN},
	};

	check_functions(rows, ARRAY_SIZE(rows));
}

/* Two runs number such functions differently, and in one run the number tells two apart. */
CASE(numbers_of_runs_are_removed)
{
	static const struct {
		const char *name, *meant;
	} names[] = {
		{"Script/0x00007f12ac000a00.run", "Script/0x.run"},
		{"Shop$$EnhancerBySpringCGLIB$$3f1c77a9.buy", "Shop$$EnhancerBySpringCGLIB$$.buy"},
		{"Shop$$SpringCGLIB$$0.buy", "Shop$$SpringCGLIB$$.buy"},
		{"Shop$HibernateProxy$aB3xY9Zq.getName", "Shop$HibernateProxy$.getName"},
		{"Shop$MockitoMock$1234567.buy", "Shop$MockitoMock$.buy"},
		{"julia_fib_123", "julia_fib"},
		{"jfptr_fib_1234", "jfptr_fib"},
		{"julia_123", "julia_123"},
		{"julia_fib_12x", "julia_fib_12x"},
		{"julia_fib_", "julia_fib_"},
		{"my_julia_fib_12", "my_julia_fib_12"},
		{"Main.lambda$main$0", "Main.lambda$main$0"},
		{"TRACE-1", "TRACE-1"},
		{"", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char text[128];

		strcpy(text, names[i].name);
		engine_unnumber(text);
		assert_string_equal(text, names[i].meant);
	}
}
