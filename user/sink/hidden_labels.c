/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/hidden_labels.h"

#include <errno.h>

/* Get the frame and the samples of a function in a view. Returns false if it does not show it. */
static bool get(const struct view *view, const struct hidden_total *total, struct frame_text *frame,
		uint64_t *ret)
{
	const struct view_options *options = &view->options;

	if (options->no_inline)
		frame_text_get(view, total->outer_location, 0, frame);
	else
		frame_text_get(view, total->location, total->index, frame);
	*ret = options->no_inline ? total->outer_samples : total->samples;
	return *ret && (options->kernel != VIEW_KERNEL_HIDDEN || frame->kind != FRAME_KIND_KERNEL);
}

int hidden_labels_add(const struct view *view, const struct frame_labels *labels,
		      hidden_labels *ret)
{
	bool interpreters = view->options.interpreter == VIEW_INTERPRETER_SHOWN &&
			    view->locations->interpreters;
	struct hidden_label out;
	struct frame_text frame;

	if (!view->hidden || view_is_exact(&view->options) || interpreters)
		return 0;
	vec_for_each (total, &view->hidden->totals) {
		if (!get(view, total, &frame, &out.samples))
			continue;
		if (labels->frame(labels->context, &frame, &out.label) || vec_push(ret, out))
			return -ENOMEM;
	}
	return 0;
}
