/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/jvmti/java_name.h"

#include <string.h>

struct name {
	char *at, *end; /* end: the last byte, for the NUL */
};

static void put(struct name *name, char c)
{
	if (name->at < name->end)
		*name->at++ = c;
}

static void put_text(struct name *name, const char *text)
{
	while (*text)
		put(name, *text++);
}

/* Put a class name up to a semicolon. Returns the text after it. */
static const char *put_class(struct name *name, const char *from)
{
	for (; *from && *from != ';'; from++)
		put(name, *from == '/' ? '.' : *from == '.' ? '/' : *from);
	return *from ? from + 1 : from;
}

/* Returns the name of a primitive type, or NULL. */
static const char *primitive(char c)
{
	switch (c) {
	case 'B':
		return "byte";
	case 'C':
		return "char";
	case 'D':
		return "double";
	case 'F':
		return "float";
	case 'I':
		return "int";
	case 'J':
		return "long";
	case 'S':
		return "short";
	case 'V':
		return "void";
	case 'Z':
		return "boolean";
	}
	return NULL;
}

/* Put the type at `from`. Returns the text after it. */
static const char *put_type(struct name *name, const char *from)
{
	size_t dimensions = strspn(from, "[");

	from += dimensions;
	if (*from == 'L')
		from = put_class(name, from + 1);
	else if (primitive(*from))
		put_text(name, primitive(*from++));
	else if (*from)
		put(name, *from++);
	while (dimensions--)
		put_text(name, "[]");
	return from;
}

bool java_is_linker(const char *class_descriptor, const char *method)
{
	return !strcmp(class_descriptor, "Ljava/lang/invoke/MethodHandle;") &&
	       (!strncmp(method, "linkTo", strlen("linkTo")) || !strcmp(method, "invokeBasic"));
}

void java_name(const char *class_descriptor, const char *method, const char *method_descriptor,
	       char *name, size_t size_bytes)
{
	struct name out = {.at = name, .end = name + size_bytes - 1};
	const char *type = method_descriptor;

	put_type(&out, class_descriptor);
	put(&out, '.');
	put_text(&out, method);
	if (type && *type == '(') {
		put(&out, *type++);
		for (const char *first = type; *type && *type != ')';) {
			if (type != first)
				put_text(&out, ", ");
			type = put_type(&out, type);
		}
		put(&out, ')');
	}
	*out.at = 0;
}
