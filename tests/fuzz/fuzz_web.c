/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as the file of counters that fmd-web reads: it is refused by a sentence, or the text of
 * its ports is as Prometheus wants it.  And any words behind the question mark of an address.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tests/unit/exposition.h"
#include "web/serve/query.h"
#include "web/text/cells.h"
#include "web/text/levels.h"
#include "web/text/ports.h"

static void
ask(const char *words)
{
	struct fm_error err = { 0 };
	json_t *args;

	if (query_read(words, &args, &err) == 0)
		(void)query_check(args, "set group names", &err);
	else
		must(args == NULL && err.msg[0] != '\0');
	json_decref(args);
	if (query_read_words(words, &args, &err) != 0)
		must(args == NULL);
	json_decref(args);
}

static void
tell(const struct readings *r, const struct ports_wanted *w)
{
	struct places p;
	struct levels l = { 0 };
	struct hour h = { 0 };
	struct text t = { 0 };

	places_init(&p);
	must(levels_add(&l, r, &p) && hour_keep(&h, r, 0));
	ports_write(r, &p, &h, w, &t);
	must(!t.is_lost);
	if (t.v.n > 0)
		must(exposition_read(t.v.item, t.v.n).why[0] == '\0');
	t.v.n = 0;
	cells_write(r, &h, NULL, &t);
	must(!t.is_lost && t.v.n == CELLS_HEAD + (size_t)r->n_nodes * 16 + (size_t)r->n_ports * 4);
	text_fini(&t);
	places_fini(&p);
	levels_fini(&l);
	hour_fini(&h);
}

static void
read_file(const uint8_t *data, size_t size)
{
	static const struct ports_wanted ours = { .set = PORTS_ALL },
					 theirs = { .as_exporter = true };
	struct fm_error err = { 0 };
	struct readings r;
	char path[64];
	int fd = memfd_create("counters", MFD_CLOEXEC);

	must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	readings_init(&r, path);
	if (readings_follow(&r, &err) != 0) {
		must(r.n_ports == 0 && err.msg[0] != '\0');
	} else {
		tell(&r, &ours);
		tell(&r, &theirs);
	}
	readings_fini(&r);
	close(fd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char words[512];

	if (size > 0 && data[0] != '?') {
		read_file(data, size);
	} else if (size > 0) {
		snprintf(words, sizeof(words), "%.*s", (int)size - 1, (const char *)data + 1);
		ask(words);
	}
	return 0;
}
