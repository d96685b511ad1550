/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/code_edges.h"

#include <errno.h>

static void swap(struct code_edge *a, struct code_edge *b)
{
	struct code_edge c = *a;

	*a = *b;
	*b = c;
}

int code_edges_push(code_edges *edges, struct code_edge edge)
{
	size_t i = edges->size;

	if (vec_push(edges, edge))
		return -ENOMEM;
	for (; i && edges->data[i].to < edges->data[(i - 1) / 2].to; i = (i - 1) / 2)
		swap(&edges->data[i], &edges->data[(i - 1) / 2]);
	return 0;
}

struct code_edge code_edges_pop(code_edges *edges)
{
	struct code_edge top = edges->data[0];
	size_t i = 0, least = 0;

	edges->data[0] = edges->data[--edges->size];
	do {
		swap(&edges->data[i], &edges->data[least]);
		i = least;
		for (size_t child = 2 * i + 1; child <= 2 * i + 2; child++) {
			if (child < edges->size && edges->data[child].to < edges->data[least].to)
				least = child;
		}
	} while (least != i);
	return top;
}
