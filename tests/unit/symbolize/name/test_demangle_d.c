/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * D names of GCC's compiler: templates with types, values and functions as
 * arguments, back references, attributes, nested functions. The expected names
 * are those of c++filt -s dlang.
 */
#include <stdint.h>
#include <stdlib.h>

#include "symbolize/name/demangle.h"
#include "tests/unit/cases.h"

static const char *const names[][2] = {
	{"_D8geometry6shapes8variadicFiYi", "geometry.shapes.variadic(int, ...)"},
	{"_D8geometry6shapes9__modctorFZv", "geometry.shapes.__modctor()"},
	{"_D8geometry6shapes11__moduleRefZ", "geometry.shapes.__moduleRef"},
	{"_D8geometry6shapes6Circle5counti", "geometry.shapes.Circle.count"},
	{"_D8geometry6shapes12__ModuleInfoZ", "ModuleInfo for geometry.shapes"},
	{"_D8geometry6shapes5lanesFNhG4fZQg", "geometry.shapes.lanes(__vector(float[4]))"},
	{"_D8geometry6shapes6Circle6__vtblZ", "vtable for geometry.shapes.Circle"},
	{"_D8geometry6shapes5Shape11__InterfaceZ", "Interface for geometry.shapes.Shape"},
	{"_D8geometry6shapes6Circle5tallyMxFNdZi", "geometry.shapes.Circle.tally() const"},
	{"_D8geometry6shapes17__unittest_L18_C1FZv", "geometry.shapes.__unittest_L18_C1()"},
	{"_D8geometry6shapes6Circle5Inner7__ClassZ", "ClassInfo for geometry.shapes.Circle.Inner"},
	{"_D8geometry6shapes6Circle8toStringMFZAya", "geometry.shapes.Circle.toString()"},
	{"_D8geometry6shapes6Circle4areaMFNaNbNiNfZd", "geometry.shapes.Circle.area()"},
	{"_D8geometry6shapes6Circle5Inner5depthMFiZi", "geometry.shapes.Circle.Inner.depth(int)"},
	{"_D8geometry6shapes6Circle12__invariant0MxFZv",
	 "geometry.shapes.Circle.__invariant0() const"},
	{"_D8geometry6shapes6nestedFiZ5Local5twiceMFZi",
	 "geometry.shapes.nested(int).Local.twice()"},
	{"_D8geometry6shapes6Circle6__ctorMFdZCQBjQBdQz", "geometry.shapes.Circle.this(double)"},
	{"_D8geometry6shapes6Circle17_staticCtor_L7_C3FZv",
	 "geometry.shapes.Circle._staticCtor_L7_C3()"},
	{"_D8geometry6shapes6nestedFiZ6helperMFNaNbNiNfiZi",
	 "geometry.shapes.nested(int).helper(int)"},
	{"_D37TypeInfo_S8geometry6shapes5space4Kept6__initZ",
	 "initializer for TypeInfo_S8geometry6shapes5space4Kept"},
	{"_D8geometry6shapes__T5PointTdZQj4normMxFNaNbNiNfZd",
	 "geometry.shapes.Point!(double).Point.norm() const"},
	{"_D8geometry6shapes6nestedFNaNbNfiZSQBhQBbQxFiZ5Local", "geometry.shapes.nested(int)"},
	{"_D8geometry6shapes__T7largestTdVmi2ZQpFNaNbNiNfG2dXd",
	 "geometry.shapes.largest!(double, 2uL).largest(double[2]...)"},
	{"_D8geometry6shapes__T6joinedTiTAyaTaTdZQsFNaNfiQqadZQv",
	 "geometry.shapes.joined!(int, immutable(char)[], char, double).joined(int, immutable(char)[], char, double)"},
	{"_D8geometry6shapes4mainFAAyaZ15__foreachbody12MFNfKQBaZi",
	 "geometry.shapes.main(immutable(char)[][]).__foreachbody12(ref immutable(char)[])"},
	{"_D8geometry6shapes__T4TreeTAyaTAQfZQo7opApplyMFMDFKQyZiZi",
	 "geometry.shapes.Tree!(immutable(char)[], immutable(char)[][]).Tree.opApply(scope int(ref immutable(char)[]) delegate)"},
	{"_D8geometry6shapes__T5paintVEQBbQv5Colori1ZQwFNaNbNiNfiZi",
	 "geometry.shapes.paint!(1).paint(int)"},
	{"_D8geometry6shapes5visitFDFNaNfKiMAxaZiPFLiJlZvHAyaiAuwPOiAyhPqZv",
	 "geometry.shapes.visit(int(ref int, scope const(char)[]) pure @safe delegate, void(lazy int, out long) function, int[immutable(char)[]], wchar[], dchar, shared(int)*, immutable(ubyte)[], cfloat*)"},
	{"_D8geometry6shapes__T5PointTdZQj9__xtoHashFNbNeKxSQBwQBq__TQBmTdZQBsZm",
	 "geometry.shapes.Point!(double).Point.__xtoHash(ref const(geometry.shapes.Point!(double).Point))"},
	{"_D8geometry6shapes__T5PointTdZQj11__xopEqualsMxFKxSQBxQBr__TQBnTdZQBtZb",
	 "geometry.shapes.Point!(double).Point.__xopEquals(ref const(geometry.shapes.Point!(double).Point)) const"},
	{"_D8geometry6shapes__T5PointTdZQj5scaleMFNaNbNcNiNjNfdZSQCbQBv__TQBrTdZQBx",
	 "geometry.shapes.Point!(double).Point.scale(double)"},
	{"_D8geometry6shapes__T5PointTdZQj8opAssignMFNaNbNcNiNjNfSQCcQBw__TQBsTdZQByZQu",
	 "geometry.shapes.Point!(double).Point.opAssign(geometry.shapes.Point!(double).Point)"},
	{"_D8geometry6shapes__T4TreeTAyaTAQfZQo6insertMFQtLQsZ12__dgliteral3MFNaNiNfZQBs",
	 "geometry.shapes.Tree!(immutable(char)[], immutable(char)[][]).Tree.insert(immutable(char)[], lazy immutable(char)[][]).__dgliteral3()"},
	{"_D3std9algorithm9iteration__T9MapResultS8geometry6shapes4mainFAAyaZ9__lambda7TSQCz5range__T4iotaTiTiZQkFiiZ6ResultZQDi4saveMFNaNbNdNiNfZSQFfQFeQEx__TQEqSQEjQEdQDzFQDxZQDwTQDpZQFq",
	 "std.algorithm.iteration.MapResult!(geometry.shapes.main(immutable(char)[][]).__lambda7, std.range.iota!(int, int).iota(int, int).Result).MapResult.save()"},
	{"_D3std8typecons__T5TupleTAyaTQeTQhTQkTQnTQqTQtZQBd6__ctorMFNaNbNcNiNfQBsQBvQByQCbQCeQChQCkZSQDmQDl__TQDfTQDcTQDgTQDkTQDoTQDsTQDwTQEaZQEl",
	 "std.typecons.Tuple!(immutable(char)[], immutable(char)[], immutable(char)[], immutable(char)[], immutable(char)[], immutable(char)[], immutable(char)[]).Tuple.this(immutable(char)[], immutable(char)[], immutable(char)[], immutable(char)[], immutable(char)[], immutable(char)[], immutable(char)[])"},
};

CASE(names_are_as_cxxfilt_says)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *found = demangle(names[i][0]);

		assert_non_null(found);
		assert_string_equal(found, names[i][1]);
		free(found);
	}
}

/* Few names of the standard library have so many: the name could expand without bound. */
CASE(more_back_references_than_are_followed)
{
	assert_null(demangle(
		"_D3std5range__T5chainTSQv3utf__T10byCodeUnitTAaZQqFQgZ14ByCodeUnitImplTSQCsQCr__T10OnlyResultTaZQpTSQDuQDa__TQCzTAxaZQDhFQiZQCsZQEjFQEgQCmQBnZ6Result6__ctorMFNaNbNcNiNfQFqQDwQCxZSQGvQGu__TQGrTQGoTQEvTQDxZQHhFQHeQFkQElZQCy"));
}
