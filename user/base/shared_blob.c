/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/shared_blob.h"

#include <stdlib.h>

struct shared_blob {
	struct blob blob;
	size_t users;
};

static int shared_read(void *shared_, uint64_t offset, void *buf, size_t size_bytes)
{
	struct shared_blob *shared = shared_;

	return shared->blob.read(shared->blob.context, offset, buf, size_bytes);
}

static void shared_close(void *shared_)
{
	struct shared_blob *shared = shared_;

	if (--shared->users)
		return;
	blob_close(&shared->blob);
	free(shared);
}

int blob_share(struct blob *blob, struct blob *ret)
{
	struct shared_blob *shared = blob->context;

	if (blob->close != shared_close) {
		shared = malloc(sizeof(*shared));
		if (!shared)
			return -ENOMEM;
		*shared = (struct shared_blob){.blob = *blob, .users = 1};
		blob->read = shared_read;
		blob->close = shared_close;
		blob->context = shared;
	}
	shared->users++;
	*ret = *blob;
	return 0;
}
