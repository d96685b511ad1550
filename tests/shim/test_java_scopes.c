/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the agent for Java makes of a JVM's records. The JVM is a table of answers. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <jvmti.h>

#include <jvmticmlr.h>
#include <stdlib.h>
#include <string.h>

#include "decode/record/scope_table.h"
#include "jitapi-shim/jvmti/compiled_method.h"

#define ADDRESS 0x7f0000001000ull

/* --- a JVM with three methods --------------------------------------------------------- */

#define FILL   ((jmethodID)0x10)
#define HELPER ((jmethodID)0x20)
#define GONE   ((jmethodID)0x30) /* its class was unloaded */

static int questions, given, deleted;
static bool redefined; /* the lines of FILL are other ones */

/* Not in the order of bytecode indexes. */
static const jvmtiLineNumberEntry fill_lines[] = {{20, 12}, {0, 9}, {10, 11}, {10, 10}};

static const jvmtiLineNumberEntry new_lines[] = {{0, 99}};

static void *give(const void *bytes, size_t size_bytes)
{
	void *copy = malloc(size_bytes);

	given++;
	return memcpy(copy, bytes, size_bytes);
}

static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *memory)
{
	given--;
	free(memory);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL declaring_class(jvmtiEnv *env, jmethodID method, jclass *ret)
{
	questions++;
	if (method == GONE)
		return JVMTI_ERROR_INVALID_METHODID;
	*ret = (jclass)method;
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL class_signature(jvmtiEnv *env, jclass class, char **ret, char **generic)
{
	*ret = give("Lpkg/Fill;", sizeof("Lpkg/Fill;"));
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL method_name(jvmtiEnv *env, jmethodID method, char **name,
				      char **descriptor, char **generic)
{
	*name = method == FILL ? give("fill", 5) : give("helper", 7);
	if (descriptor)
		*descriptor = give("(I[Ljava/lang/String;)V", 24);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL source_file(jvmtiEnv *env, jclass class, char **ret)
{
	if ((jmethodID) class != FILL)
		return JVMTI_ERROR_ABSENT_INFORMATION;
	*ret = give("Fill.java", 10);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL line_table(jvmtiEnv *env, jmethodID method, jint *count,
				     jvmtiLineNumberEntry **ret)
{
	if (method != FILL)
		return JVMTI_ERROR_NATIVE_METHOD;
	*count = redefined ? 1 : 4;
	*ret = give(redefined ? new_lines : fill_lines, (size_t)*count * sizeof(fill_lines[0]));
	return JVMTI_ERROR_NONE;
}

static void JNICALL delete_local(JNIEnv *env, jobject object)
{
	deleted++;
}

static const struct jvmtiInterface_1_ jvmti_answers = {
	.Deallocate = deallocate,
	.GetMethodDeclaringClass = declaring_class,
	.GetClassSignature = class_signature,
	.GetMethodName = method_name,
	.GetSourceFileName = source_file,
	.GetLineNumberTable = line_table,
};

static const struct JNINativeInterface_ jni_answers = {.DeleteLocalRef = delete_local};

/* --- the scopes of one load ------------------------------------------------------------- */

struct fixture {
	jvmtiEnv jvmti;
	JNIEnv jni;
	struct methods methods;
	struct scopes scopes;
	struct buffer room;
	struct scope_table table;
	bool complete, has_table;
};

static void begin(struct fixture *f, const struct compiled_method *compiled)
{
	const void *bytes;
	uint32_t size_bytes;

	*f = (struct fixture){.jvmti = &jvmti_answers, .jni = &jni_answers};
	questions = given = deleted = 0;
	methods_init(&f->methods, false, false);
	methods_begin_load(&f->methods, &f->jvmti, &f->jni);
	scopes_init(&f->scopes);
	f->complete = compiled_method_scopes(compiled, &f->methods, &f->scopes);
	bytes = scopes_table(&f->scopes, 1u << 20, &f->room, &size_bytes);
	f->has_table = bytes;
	if (bytes)
		assert_int_equal(scope_table_decode(bytes, size_bytes, &f->table), 0);
}

static void end(struct fixture *f)
{
	methods_end_load(&f->methods);
	methods_deinit(&f->methods);
	scopes_deinit(&f->scopes);
	buffer_deinit(&f->room);
	assert_int_equal(given, 0); /* all memory of the JVM was freed */
}

static void assert_at(const struct fixture *f, uint64_t offset, const char *want)
{
	uint32_t at = scope_table_at(&f->table, offset);
	char text[256] = "";
	size_t used = 0;

	while (at != JITBPF_NO_SCOPE) {
		struct scope scope = scope_table_get(&f->table, at);

		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s@%d %s:%u",
					 used ? " < " : "", scope.name, scope.position,
					 scope.source, scope.line);
		at = scope.caller;
	}
	assert_string_equal(text, want);
}

#define COMPILED(info)                                                                             \
	(struct compiled_method)                                                                   \
	{                                                                                          \
		.id = FILL, .address = ADDRESS, .size_bytes = 0x40, .map_is_bytecode = true,       \
		.compile_info = (info)                                                             \
	}

static jmethodID only_fill[] = {FILL}, helper_in_fill[] = {HELPER, FILL};
static jint at_2[] = {2}, at_12[] = {12}, inlined_at_19[] = {-1, 19}, inlined_at_25[] = {3, 25};

static jvmtiCompiledMethodLoadInlineRecord inline_record(PCStackInfo *places, jint count)
{
	return (jvmtiCompiledMethodLoadInlineRecord){
		.header = {.kind = JVMTI_CMLR_INLINE_INFO, .majorinfoversion = 1},
		.numpcs = count,
		.pcinfo = places,
	};
}

/*
 * HotSpot finds the first descriptor whose pc is not below: the pc itself ends the range. A line
 * has one scope, with the position that came first.
 */
static void test_a_descriptor_ends_its_range(void **state)
{
	PCStackInfo places[] = {
		{(void *)(ADDRESS + 8), 1, only_fill, at_2},
		{(void *)(ADDRESS + 16), 2, helper_in_fill, inlined_at_19},
		{(void *)(ADDRESS + 24), 2, helper_in_fill, inlined_at_25},
		{(void *)(ADDRESS + 28), 2, helper_in_fill, inlined_at_25},
		{(void *)(ADDRESS + 32), 1, only_fill, at_12},
	};
	jvmtiCompiledMethodLoadInlineRecord record = inline_record(places, 5);
	struct compiled_method compiled = COMPILED(&record);
	struct fixture f;

	begin(&f, &compiled);
	assert_true(f.complete);
	assert_at(&f, 0, "pkg.Fill.fill@2 pkg/Fill.java:9");
	assert_at(&f, 8, "pkg.Fill.fill@2 pkg/Fill.java:9");
	assert_at(&f, 9, "pkg.Fill.helper@-1 :0 < pkg.Fill.fill@19 pkg/Fill.java:10");
	assert_at(&f, 16, "pkg.Fill.helper@-1 :0 < pkg.Fill.fill@19 pkg/Fill.java:10");
	assert_at(&f, 17, "pkg.Fill.helper@3 :0 < pkg.Fill.fill@25 pkg/Fill.java:12");
	assert_at(&f, 28, "pkg.Fill.helper@3 :0 < pkg.Fill.fill@25 pkg/Fill.java:12");
	assert_at(&f, 29, "pkg.Fill.fill@19 pkg/Fill.java:10");
	assert_at(&f, 32, "pkg.Fill.fill@19 pkg/Fill.java:10");
	assert_at(&f, 33, "");
	assert_int_equal(f.table.counts.range_count, 5); /* equal neighbours are one */
	assert_int_equal(f.table.counts.method_count, 2);
	assert_int_equal(questions, 2); /* each method once */
	assert_int_equal(deleted, 2);
	end(&f);
}

static void test_bad_program_counters(void **state)
{
	PCStackInfo places[] = {
		{(void *)(ADDRESS - 1), 1, only_fill, at_12},
		{(void *)(ADDRESS + 16), 1, only_fill, at_2},
		{(void *)(ADDRESS + 8), 1, only_fill, at_12},
		{(void *)(ADDRESS + 16), 1, only_fill, at_12},
		{(void *)(ADDRESS + 0x41), 1, only_fill, at_12},
		{NULL, 1, only_fill, at_12},
	};
	jvmtiCompiledMethodLoadInlineRecord record = inline_record(places, 6);
	struct compiled_method compiled = COMPILED(&record);
	struct fixture f;

	begin(&f, &compiled);
	assert_false(f.complete);
	assert_at(&f, 0, "pkg.Fill.fill@2 pkg/Fill.java:9");
	assert_at(&f, 16, "pkg.Fill.fill@2 pkg/Fill.java:9");
	assert_at(&f, 17, "");
	end(&f);
}

/* Places on one line are one scope, and neighbours of it one range. */
static void test_places_on_a_line(void **state)
{
	jint at_3[] = {3};
	PCStackInfo places[] = {
		{(void *)(ADDRESS + 8), 1, only_fill, at_2},
		{(void *)(ADDRESS + 16), 1, only_fill, at_3},
		{(void *)(ADDRESS + 24), 1, only_fill, at_12},
	};
	jvmtiCompiledMethodLoadInlineRecord record = inline_record(places, 3);
	struct compiled_method compiled = COMPILED(&record);
	struct fixture f;

	begin(&f, &compiled);
	assert_at(&f, 8, "pkg.Fill.fill@2 pkg/Fill.java:9");
	assert_at(&f, 16, "pkg.Fill.fill@2 pkg/Fill.java:9");
	assert_at(&f, 17, "pkg.Fill.fill@12 pkg/Fill.java:10");
	assert_int_equal(f.table.counts.scope_count, 2);
	assert_int_equal(f.table.counts.range_count, 3); /* with the one after the last place */
	end(&f);
}

/* A method of a class that is gone has no name, and is no error. */
static void test_method_that_is_gone(void **state)
{
	jmethodID gone_in_fill[] = {GONE, FILL};
	PCStackInfo places[] = {{(void *)(ADDRESS + 8), 2, gone_in_fill, inlined_at_19}};
	jvmtiCompiledMethodLoadInlineRecord record = inline_record(places, 1);
	struct compiled_method compiled = COMPILED(&record);
	struct fixture f;

	begin(&f, &compiled);
	assert_at(&f, 0, "@-1 :0 < pkg.Fill.fill@19 pkg/Fill.java:10");
	end(&f);
}

static void test_chain_too_deep(void **state)
{
	jmethodID methods[JITBPF_SCOPE_DEPTH_MAX + 1];
	jint positions[JITBPF_SCOPE_DEPTH_MAX + 1];
	PCStackInfo places[] = {
		{(void *)(ADDRESS + 8), JITBPF_SCOPE_DEPTH_MAX, methods, positions},
		{(void *)(ADDRESS + 16), JITBPF_SCOPE_DEPTH_MAX + 1, methods, positions},
	};
	jvmtiCompiledMethodLoadInlineRecord record = inline_record(places, 2);
	struct compiled_method compiled = COMPILED(&record);
	struct fixture f;

	for (int i = 0; i <= JITBPF_SCOPE_DEPTH_MAX; i++) {
		methods[i] = FILL;
		positions[i] = 0;
	}
	begin(&f, &compiled);
	assert_false(f.complete);
	assert_int_equal(scope_table_get(&f.table, scope_table_at(&f.table, 8)).depth,
			 JITBPF_SCOPE_DEPTH_MAX);
	assert_at(&f, 9, "");
	end(&f);
}

/* An entry of the address map begins its range. */
static void test_address_map(void **state)
{
	static const jvmtiAddrLocationMap map[] = {{(void *)(ADDRESS + 4), 2},
						   {(void *)(ADDRESS + 8), 12},
						   {(void *)(ADDRESS + 16), -1}};
	struct compiled_method compiled = COMPILED(NULL);
	struct fixture f;

	compiled.map = map;
	compiled.map_count = 3;
	begin(&f, &compiled);
	assert_true(f.complete);
	assert_at(&f, 3, "");
	assert_at(&f, 4, "pkg.Fill.fill@2 pkg/Fill.java:9");
	assert_at(&f, 7, "pkg.Fill.fill@2 pkg/Fill.java:9");
	assert_at(&f, 8, "pkg.Fill.fill@12 pkg/Fill.java:10");
	assert_at(&f, 16, "pkg.Fill.fill@-1 pkg/Fill.java:0");
	end(&f);
	compiled.map_is_bytecode = false;
	begin(&f, &compiled);
	assert_false(f.has_table);
	end(&f);
}

/* Records of other kinds and versions are passed over; a chain without end is not followed. */
static void test_record_chains(void **state)
{
	PCStackInfo places[] = {{(void *)(ADDRESS + 8), 1, only_fill, at_2}};
	jvmtiCompiledMethodLoadInlineRecord record = inline_record(places, 1), newer = record;
	jvmtiCompiledMethodLoadRecordHeader dummy = {
		.kind = JVMTI_CMLR_DUMMY, .majorinfoversion = 1, .next = &newer.header};
	struct compiled_method compiled = COMPILED(&dummy);
	struct fixture f;

	newer.header.majorinfoversion = 2;
	newer.header.next = &record.header;
	begin(&f, &compiled);
	assert_at(&f, 8, "pkg.Fill.fill@2 pkg/Fill.java:9");
	end(&f);
	newer.header.next = &dummy;
	begin(&f, &compiled);
	assert_false(f.has_table);
	assert_true(f.complete);
	end(&f);
}

/* --- several loads ------------------------------------------------------------------------ */

/* Reports one load with the methods of a fixture, as the agent does. */
static void load_again(struct fixture *f, const struct compiled_method *compiled)
{
	const void *bytes;
	uint32_t size_bytes;

	methods_end_load(&f->methods);
	scopes_reset(&f->scopes);
	buffer_reset(&f->room);
	methods_begin_load(&f->methods, &f->jvmti, &f->jni);
	f->complete = compiled_method_scopes(compiled, &f->methods, &f->scopes);
	bytes = scopes_table(&f->scopes, 1u << 20, &f->room, &size_bytes);
	assert_non_null(bytes);
	assert_int_equal(scope_table_decode(bytes, size_bytes, &f->table), 0);
}

/* A name is looked up once in all loads; lines in each, since a class may be redefined. */
static void test_names_are_kept(void **state)
{
	PCStackInfo places[] = {{(void *)(ADDRESS + 8), 1, only_fill, at_2}};
	jvmtiCompiledMethodLoadInlineRecord record = inline_record(places, 1);
	struct compiled_method compiled = COMPILED(&record);
	struct fixture f;

	begin(&f, &compiled);
	f.methods.keep_names = true;
	load_again(&f, &compiled);
	assert_at(&f, 0, "pkg.Fill.fill@2 pkg/Fill.java:9");
	assert_int_equal(questions, 1);
	redefined = true;
	load_again(&f, &compiled);
	redefined = false;
	assert_at(&f, 0, "pkg.Fill.fill@2 pkg/Fill.java:99");
	assert_int_equal(f.table.counts.method_count, 1);
	assert_int_equal(f.table.counts.scope_count, 1);
	assert_int_equal(questions, 1);
	end(&f);
}

/* In a VM that may use method IDs again, each load looks up its names. */
static void test_names_are_not_kept(void **state)
{
	PCStackInfo places[] = {{(void *)(ADDRESS + 8), 1, only_fill, at_2}};
	jvmtiCompiledMethodLoadInlineRecord record = inline_record(places, 1);
	struct compiled_method compiled = COMPILED(&record);
	struct fixture f;

	begin(&f, &compiled);
	load_again(&f, &compiled);
	assert_at(&f, 0, "pkg.Fill.fill@2 pkg/Fill.java:9");
	assert_int_equal(questions, 2);
	end(&f);
}

/* A failed look-up is repeated by the next load. */
static void test_missing_names_are_not_kept(void **state)
{
	jmethodID only_gone[] = {GONE};
	PCStackInfo places[] = {{(void *)(ADDRESS + 8), 1, only_gone, at_2}};
	jvmtiCompiledMethodLoadInlineRecord record = inline_record(places, 1);
	struct compiled_method compiled = COMPILED(&record);
	struct fixture f;

	begin(&f, &compiled);
	f.methods.keep_names = true;
	load_again(&f, &compiled);
	assert_int_equal(questions, 2);
	assert_int_equal(buffer_items_count(&f.methods.names), 0);
	end(&f);
}

/* The number of kept names is bounded. */
static void test_many_names(void **state)
{
	struct fixture f = {.jvmti = &jvmti_answers, .jni = &jni_answers};
	uintptr_t id = 0x1000;

	questions = given = deleted = 0;
	methods_init(&f.methods, true, false);
	for (int load = 0; load < 3; load++) {
		methods_begin_load(&f.methods, &f.jvmti, &f.jni);
		for (int i = 0; i < METHODS_KEPT_MAX / 2 + 1; i++)
			assert_string_equal(methods_get(&f.methods, (jmethodID)id++)->name,
					    "pkg.Fill.helper");
		methods_end_load(&f.methods);
		assert_in_range(buffer_items_count(&f.methods.names), 0, METHODS_KEPT_MAX);
	}
	assert_int_equal(buffer_items_count(&f.methods.names), METHODS_KEPT_MAX / 2 + 1);
	methods_deinit(&f.methods);
	assert_int_equal(given, 0);
}

/* A place that shares callers with the one before has the scopes of its own chain. */
static void test_shared_callers(void **state)
{
	jmethodID deep[] = {HELPER, HELPER, FILL}, other[] = {HELPER, FILL, FILL};
	jint a[] = {1, 2, 19}, b[] = {5, 2, 19}, c[] = {1, 2, 12}, d[] = {1, 25, 19};
	PCStackInfo places[] = {
		{(void *)(ADDRESS + 1), 3, deep, a},  {(void *)(ADDRESS + 2), 3, deep, b},
		{(void *)(ADDRESS + 3), 3, deep, c},  {(void *)(ADDRESS + 4), 2, deep + 1, a + 1},
		{(void *)(ADDRESS + 5), 3, other, d}, {(void *)(ADDRESS + 6), 0, NULL, NULL},
		{(void *)(ADDRESS + 7), 3, deep, a},
	};
	jvmtiCompiledMethodLoadInlineRecord record = inline_record(places, 7);
	struct compiled_method compiled = COMPILED(&record);
	struct fixture f;

	begin(&f, &compiled);
	assert_at(
		&f, 1,
		"pkg.Fill.helper@1 :0 < pkg.Fill.helper@2 :0 < pkg.Fill.fill@19 pkg/Fill.java:10");
	assert_at(
		&f, 2,
		"pkg.Fill.helper@1 :0 < pkg.Fill.helper@2 :0 < pkg.Fill.fill@19 pkg/Fill.java:10");
	assert_at(&f, 4, "pkg.Fill.helper@2 :0 < pkg.Fill.fill@19 pkg/Fill.java:10");
	assert_at(&f, 5,
		  "pkg.Fill.helper@1 :0 < pkg.Fill.fill@25 pkg/Fill.java:12 < "
		  "pkg.Fill.fill@19 pkg/Fill.java:10");
	assert_at(&f, 6, "");
	assert_at(
		&f, 7,
		"pkg.Fill.helper@1 :0 < pkg.Fill.helper@2 :0 < pkg.Fill.fill@19 pkg/Fill.java:10");
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_descriptor_ends_its_range),
		cmocka_unit_test(test_bad_program_counters),
		cmocka_unit_test(test_places_on_a_line),
		cmocka_unit_test(test_method_that_is_gone),
		cmocka_unit_test(test_chain_too_deep),
		cmocka_unit_test(test_address_map),
		cmocka_unit_test(test_record_chains),
		cmocka_unit_test(test_names_are_kept),
		cmocka_unit_test(test_names_are_not_kept),
		cmocka_unit_test(test_missing_names_are_not_kept),
		cmocka_unit_test(test_many_names),
		cmocka_unit_test(test_shared_callers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
