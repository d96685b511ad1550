/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs a fuzz target over the files of a directory, without libFuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/scope.h"
#include "tests/fuzz/seeds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static int replay(const char *path, unsigned *taken)
{
	AUTO_FCLOSE FILE *f = fopen(path, "rb");
	AUTO_FREE uint8_t *data = NULL;
	struct stat st;

	if (!f || fstat(fileno(f), &st))
		return -1;
	data = malloc(st.st_size + 1);
	if (!data || fread(data, 1, st.st_size, f) != (size_t)st.st_size)
		return -1;
	/* The buffer has exactly the file's size, so that sanitizers detect reads beyond it. */
	uint8_t *exact = realloc(data, st.st_size ? st.st_size : 1);

	if (exact)
		data = exact;
	seed_is_taken = false;
	LLVMFuzzerTestOneInput(data, st.st_size);
	*taken += seed_is_taken;
	return 0;
}

int main(int argc, char **argv)
{
	struct dirent **names;
	int count = argc == 2 ? scandir(argv[1], &names, NULL, alphasort) : -1, ran = 0;
	unsigned taken = 0;

	if (count < 0) {
		fprintf(stderr, "usage: %s FOLDER (which must exist)\n", argv[0]);
		return 2;
	}
	for (int i = 0; i < count; i++) {
		char path[4096];

		if (names[i]->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%s/%s", argv[1], names[i]->d_name);
			if (replay(path, &taken)) {
				fprintf(stderr, "%s: cannot be read\n", path);
				return 2;
			}
			ran++;
		}
		free(names[i]);
	}
	free(names);
	printf("%s: %d inputs replayed, %u taken\n", argv[1], ran, taken);
	if (taken == seeds_expected)
		return ran ? 0 : 2;
	fprintf(stderr,
		"%s: the decoder takes %u inputs, but SEEDS() says %u: see tests/fuzz/seeds.h\n",
		argv[1], taken, seeds_expected);
	return 1;
}
