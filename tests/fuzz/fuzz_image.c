/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as the file of an engine "tiny", before anything of it is run: copied as they are,
 * and judged: a library with the engine's name in it, or a sentence.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/abi/plugin_check.h"
#include "core/engine/plugin_image.h"
#include "tests/fuzz/fuzz.h"

static char dir[32], path[64];

static void
remove_folder(void)
{
	unlink(path);
	rmdir(dir);
}

static void
make_folder(void)
{
	snprintf(dir, sizeof(dir), "/tmp/fuzz_image.XXXXXX");
	must(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/tiny.so", dir);
	atexit(remove_folder);
}

static void
must_judge(const struct plugin_image *image)
{
	struct fm_error err = { 0 };
	int rc = plugin_file_check(
	    &plugin_engine, "tiny.so", "tiny", image->bytes, image->n_bytes, &err);

	must(rc == 0 || (rc == FM_E_CONFIG && strncmp(err.msg, "tiny.so", 7) == 0));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct plugin_image as_it_is = {
		.fd = -1, .bytes = (const char *)data, .n_bytes = size
	};
	struct plugin_image image;
	struct fm_error err = { 0 };
	FILE *out;

	fuzz_be_quiet();
	if (dir[0] == '\0')
		make_folder();
	must_judge(&as_it_is); /* a read beyond the end is seen here */
	out = fopen(path, "we");
	must(out != NULL && fwrite(data, 1, size, out) == size && fclose(out) == 0);
	must(plugin_image_read(dir, path, true, &image, &err) == 0);
	must(image.n_bytes == size && (size == 0 || memcmp(image.bytes, data, size) == 0));
	must(plugin_image_mark(&image) == plugin_image_mark(&as_it_is));
	must_judge(&image);
	plugin_image_close(&image);
	return 0;
}
