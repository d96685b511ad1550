/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <string.h>

#include "base/scope.h"
#include "engines/engines.h"
#include "tests/unit/cases.h"

/* The programs and libraries of runtimes, as distributions and builds name them. */
CASE(test_switches_stacks)
{
	assert_true(
		engine_file_of("/lib/_greenlet.cpython-311-x86_64-linux-gnu.so").switches_stacks);
	assert_true(engine_file_of("/lib/greenlet.abi3.so (deleted)").switches_stacks);
	assert_false(engine_file_of("/lib/greenlet.py").switches_stacks);
	assert_false(engine_file_of("/lib/my_greenlet.so").switches_stacks);
	assert_false(engine_file_of("/usr/bin/python3.11").switches_stacks);
}

CASE(test_runtimes)
{
	static const struct {
		const char *path, *name, *version;
	} cases[] = {
		{"/usr/bin/python3.11", "CPython", "3.11"},
		{"/usr/bin/python3", "CPython", "3"},
		{"/opt/venv/bin/python", "CPython", ""},
		{"/usr/local/bin/python3.13t", "CPython", "3.13"},
		{"/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0", "CPython", "3.11"},
		{"/usr/lib/libpython3.8m.so.1.0", "CPython", "3.8"},
		{"/usr/lib/libpython3.so", NULL, ""},
		{"/lib/greenlet/_greenlet.cpython-311-x86_64-linux-gnu.so", NULL, ""},
		{"/usr/bin/python3.11 (deleted)", "CPython", "3.11"},
		{"/usr/bin/python3-config", NULL, ""},
		{"/usr/bin/pythonize", NULL, ""},
		{"/usr/lib/apache2/modules/mod_python.so", NULL, ""},
		{"/usr/bin/php8.2", "PHP", "8.2"},
		{"php-fpm", "PHP", ""},
		{"/usr/sbin/php-fpm7.4", "PHP", "7.4"},
		{"/opt/frankenphp", "PHP", ""},
		{"/usr/local/lsws/bin/lsphp", "PHP", ""},
		{"/usr/bin/phpdbg8.2", "PHP", "8.2"},
		{"/usr/lib/libphp8.2.so", "PHP", "8.2"},
		{"/modules/mod_php.so", "PHP", ""},
		{"/php/phpiredis.so", NULL, ""},
		{"/opt/phpstorm/bin/phpstorm", NULL, ""},
		{"/php/node", "Node.js", ""},
		{"/root/.nvm/versions/node/v20.11.0/bin/node", "Node.js", "20.11.0"},
		{"/opt/node-v18.19.0-linux-x64/bin/node", "Node.js", "18.19.0"},
		{"/usr/lib/x86_64-linux-gnu/libnode.so.108", "Node.js", ""},
		{"/usr/bin/nodemon", NULL, ""},
		{"/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so", "Java", "17"},
		{"/usr/lib/jvm/java-17-openjdk-amd64/bin/java", "Java", "17"},
		{"/opt/jdk-21.0.2/lib/server/libjvm.so", "Java", "21.0.2"},
		{"/usr/lib/jvm/jdk1.8.0_292/jre/lib/amd64/server/libjvm.so", "Java", "8"},
		{"/jbr/lib/server/libjvm.so", "Java", ""},
		{"/usr/bin/javascript", NULL, ""},
		{"/usr/bin/ruby3.1", "Ruby", "3.1"},
		{"/usr/bin/perl", "Perl", ""},
		{"/usr/bin/perl5.36.0", "Perl", "5.36.0"},
		{"/usr/lib/x86_64-linux-gnu/libperl.so.5.36.0", "Perl", "5.36.0"},
		{"/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1.2", "Ruby", "3.1.2"},
		{"/usr/lib/erlang/erts-13.1.5/bin/beam.smp", "Erlang", "25"},
		{"/usr/share/dotnet/shared/Microsoft.NETCore.App/8.0.1/libcoreclr.so", ".NET",
		 "8.0.1"},
		{"/usr/bin/mono-sgen", "Mono", ""},
		{"/usr/lib/libmonosgen-2.0.so.1.0.0", "Mono", ""},
		{"/usr/bin/luajit-2.1.0-beta3", "LuaJIT", "2.1.0"},
		{"/usr/lib/x86_64-linux-gnu/libluajit-5.1.so.2.1.0", "LuaJIT", "2.1.0"},
		{"/opt/pypy3.9-v7.3.11-linux64/bin/libpypy3.9-c.so", "PyPy", "3.9"},
		{"/usr/bin/pypy3", "PyPy", "3"},
		{"/usr/lib/x86_64-linux-gnu/libguile-3.0.so.1.5.0", "Guile", "3.0"},
		{"/usr/lib/x86_64-linux-gnu/libmozjs-102.so.102.15.1", "SpiderMonkey", "102"},
		{"/opt/julia-1.10.0/lib/julia/libjulia-internal.so.1.10", "Julia", "1.10.0"},
		{"/usr/lib/libdnnl.so.2", NULL, ""},
		{"/memfd:python3 (deleted)", NULL, ""},
		{"[vdso]", NULL, ""},
		{" (deleted)", NULL, ""},
		{"", NULL, ""},
		/* A name is all that is looked at: it deceives only about its own process. */
		{"/tmp/libjvm.so", "Java", ""},
		{"/tmp/python99999.1", "CPython", ""},
		{"/tmp/python4096.1", "CPython", ""},
		{"/tmp/python4095.4095.4095.7", "CPython", "4095.4095.4095"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct engine_file file = engine_file_of(cases[i].path), again;
		char version[ENGINE_VERSION_BYTES];

		engine_version_text(&file.version, version);
		if (cases[i].name && !file.engine)
			fail_msg("%s is no runtime", cases[i].path);
		if (!cases[i].name && file.engine)
			fail_msg("%s is %s", cases[i].path, file.engine->name);
		if (!cases[i].name)
			continue;
		assert_false(file.is_plugin);
		assert_string_equal(engine_runtime_name(file.engine), cases[i].name);
		if (strcmp(version, cases[i].version) != 0)
			fail_msg("%s has the version \"%s\"", cases[i].path, version);
		/* As it is sent to others. */
		assert_true(engine_runtime_number(&file) < 1ull << 53);
		again = engine_of_runtime_number(engine_runtime_number(&file));
		assert_ptr_equal(again.engine, file.engine);
		assert_memory_equal(&again.version, &file.version, sizeof(file.version));
	}
}

/* Advice is about what that version can do, and whether it was tried. */
CASE(test_advice)
{
	static const struct {
		const char *path, *command, *words;
	} cases[] = {
		{"/usr/bin/php8.2", "", "start it with the variables of 'jitbpf env'; PCRE"},
		{"/usr/bin/php8.4", "", "start it with -d opcache.jit_debug=32; PCRE"},
		{"/usr/bin/php", "", "PHP 8.4 or newer: with -d opcache.jit_debug=32"},
		{"/usr/bin/php8.2", "php8.2 -n x", "add -d opcache.jit_debug=128"},
		{"/Microsoft.NETCore.App/3.1.23/libcoreclr.so", "", "does not publish"},
		{"/Microsoft.NETCore.App/8.0.1/libcoreclr.so", "", "DOTNET_PerfMapEnabled=2"},
		{"/usr/bin/julia", "", "start it with the variables of 'jitbpf env'"},
		{"/usr/bin/julia", "julia x.jl", "although it has the variables"},
		{"/usr/lib/erlang/erts-13.1.5/bin/beam.smp", "", "+JPperf true"},
		{"/usr/bin/luajit", "luajit x.lua", "does not publish"},
		{"/usr/bin/mono-sgen", "", "does not publish"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct engine_file file = engine_file_of(cases[i].path);
		const char *advice = file.engine->advice(cases[i].command, &file.version);

		if (!strstr(advice, cases[i].words))
			fail_msg("%s: %s", cases[i].path, advice);
	}
}

CASE(test_plugins)
{
	struct engine_file opcache = engine_file_of("/usr/lib/php/opcache.so");

	assert_ptr_equal(opcache.engine, &engine_php);
	assert_true(opcache.is_plugin);
	assert_int_equal(engine_runtime_number(&opcache), 0);
}

/* Longer than any file name. */
CASE(test_long_names)
{
	char path[8192];

	memset(path, '1', sizeof(path));
	memcpy(path, "/python", 7);
	path[sizeof(path) - 1] = 0;
	assert_null(engine_file_of(path).engine);
	memcpy(path + sizeof(path) - 11, " (deleted)", 10);
	assert_null(engine_file_of(path).engine);
	path[1 + 255] = 0;
	assert_ptr_equal(engine_file_of(path).engine, &engine_cpython);
}

/* Numbers that nobody made. */
CASE(test_foreign_numbers)
{
	for (int bit = 0; bit < 64; bit++) {
		struct engine_file file = engine_of_runtime_number(1ull << bit | 1);
		char version[ENGINE_VERSION_BYTES];

		assert_true(file.version.parts <= ENGINE_VERSION_PARTS);
		engine_version_text(&file.version, version);
	}
	assert_null(engine_of_runtime_number(0).engine);
	assert_null(engine_of_runtime_number(ENGINE_NUMBERS - 1).engine);
	assert_null(engine_of_runtime_number(UINT64_MAX).engine);
}

CASE(test_frames)
{
	static const struct {
		const char *name;
		enum engine_frames frames;
	} cases[] = {
		{"Interpreter", ENGINE_FRAMES_INTERPRETER},
		{"Interpreter.run", ENGINE_FRAMES_ONE},
		{"ExceptionBlob", ENGINE_FRAMES_PUSHED},
		{"cont_returnBarrier", ENGINE_FRAMES_RETURNED_TO},
		{"jdk.internal.vm.Continuation.enterSpecial", ENGINE_FRAMES_FIRST},
		{"Cont thaw return barrier exception", ENGINE_FRAMES_RETURNED_TO},
		{"Cont thaw", ENGINE_FRAMES_ANY},
		{"itable stub", ENGINE_FRAMES_ANY},
		{"", ENGINE_FRAMES_ANY},
	};

	assert_ptr_equal(engine_of_publisher(JITBPF_PUBLISHER_JVMTI), &engine_java);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(engine_java.frames(cases[i].name), cases[i].frames);
	assert_null(engine_of_publisher(JITBPF_PUBLISHER_SHIM));
	assert_null(engine_of_publisher(JITBPF_PUBLISHER_JITDUMP));
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

/* What only runtimes have, and what only runtimes that host code have. */
CASE(test_runtimes_are_complete)
{
	const struct engine *engine;

	for (size_t at = 0; (engine = engine_at(at)); at++) {
		assert_true(engine->is_runtime || !engine->entry_symbol);
		assert_true(engine->is_runtime || !engine->advice);
		assert_true(engine->is_runtime || !engine->version);
		assert_true(engine->entry_symbol || !engine->is_plugin);
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

CASE(tiers_of_v8_are_one_function)
{
	static const struct function_row rows[] = {
		{"JS:*fib /srv/server.js:2:13", "fib /srv/server.js:2:13", CODE_TIER_OPTIMIZED},
		{"JS:+fib /srv/server.js:2:13", "fib /srv/server.js:2:13", CODE_TIER_MIDDLE},
		{"JS:^fib /srv/server.js:2:13", "fib /srv/server.js:2:13", CODE_TIER_BASELINE},
		{"JS:~fib /srv/server.js:2:13", "fib /srv/server.js:2:13", CODE_TIER_INTERPRETED},
		{"JS:^ node:internal/timers:12:3", "(anonymous) node:internal/timers:12:3",
		 CODE_TIER_BASELINE},
		{"JS:fib /srv/server.js:2:13", "JS:fib /srv/server.js:2:13", CODE_TIER_PLAIN},
		{"JS:*fib", "JS:*fib", CODE_TIER_OPTIMIZED},
		{"JS:*fib :2:", "JS:*fib :2:", CODE_TIER_OPTIMIZED},
		{"JS:*fib 2:13", "JS:*fib 2:13", CODE_TIER_OPTIMIZED},
		{"JS:", "JS:", CODE_TIER_PLAIN},
		{"JS:*", "JS:*", CODE_TIER_OPTIMIZED},
		{"Builtin:^f a.js:1:2", "Builtin:^f a.js:1:2", CODE_TIER_PLAIN},
		/* Names of Node.js 18. */
		{"LazyCompile:*fib /srv/server.js:2", "fib /srv/server.js:2", CODE_TIER_OPTIMIZED},
		{"LazyCompile:~fib /srv/server.js:2", "fib /srv/server.js:2",
		 CODE_TIER_INTERPRETED},
		{"Function:^fib /srv/server.js:2", "fib /srv/server.js:2", CODE_TIER_BASELINE},
		{"Function:~ node:internal/timers:1", "(anonymous) node:internal/timers:1",
		 CODE_TIER_INTERPRETED},
		{"Script:^ /srv/server.js:1", "(anonymous) /srv/server.js:1", CODE_TIER_BASELINE},
		{"Eval:~ evalmachine.<anonymous>:1", "(anonymous) evalmachine.<anonymous>:1",
		 CODE_TIER_INTERPRETED},
		{"LazyCompile:*fib", "LazyCompile:*fib", CODE_TIER_OPTIMIZED},
		{"LazyCompile:", "LazyCompile:", CODE_TIER_PLAIN},
		{"LazyCompile:*", "LazyCompile:*", CODE_TIER_OPTIMIZED},
		{"RegExp:^[A-Z]:1", "RegExp:^[A-Z]:1", CODE_TIER_PLAIN},
		{"JS:*fib /srv/server.js:2", "JS:*fib /srv/server.js:2", CODE_TIER_OPTIMIZED},
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
