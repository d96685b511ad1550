/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/background.h"

static void *run(void *background_)
{
	struct background *background = background_;

	background->result = background->call(background->context);
	return NULL;
}

void background_start(struct background *background, int (*call)(void *context), void *context)
{
	*background = (struct background){.call = call, .context = context};
	if (pthread_create(&background->thread, NULL, run, background))
		run(background);
	else
		background->started = true;
}

int background_join(struct background *background)
{
	if (background->started)
		pthread_join(background->thread, NULL);
	background->started = false;
	return background->result;
}
