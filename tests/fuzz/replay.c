/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The corpus of a fuzzer as a plain test: as replay_NAME, every file of
 * tests/fuzz/corpus/NAME goes through the fuzzer's entry once, whole and cut at
 * each length.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int
replay(const char *path)
{
	static uint8_t data[1 << 16];
	FILE *in = fopen(path, "re");
	size_t n;

	if (in == NULL) {
		perror(path);
		return 1;
	}
	n = fread(data, 1, sizeof(data), in);
	fclose(in);
	for (size_t k = 0; k <= n; k++) {
		uint8_t *copy = malloc(k + 1); /* so that a read beyond the end is seen by ASan */

		if (copy == NULL)
			return 1;
		for (size_t i = 0; i < k; i++)
			copy[i] = data[i];
		LLVMFuzzerTestOneInput(copy, k);
		free(copy);
	}
	return 0;
}

int
main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '_');
	const char *top = getenv("srcdir");
	char dir[512], path[1024];
	struct dirent *d;
	int n = 0, rc = 0;
	DIR *list;

	snprintf(dir, sizeof(dir), "%s/tests/fuzz/corpus/%s", top != NULL ? top : ".",
	    name != NULL ? name + 1 : "");
	list = opendir(dir);
	if (list == NULL) {
		perror(dir);
		return 1;
	}
	while ((d = readdir(list)) != NULL) {
		if (d->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, d->d_name);
		rc |= replay(path);
		n++;
	}
	closedir(list);
	printf("%d files of %s\n", n, dir);
	return n == 0 ? 1 : rc;
}
