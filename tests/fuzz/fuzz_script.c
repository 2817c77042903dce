/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as what simulations are told: the keys behind a fabric's name, a script of
 * timed faults, and commands of the console, with form feeds between the three.  What is
 * taken is done, and the agents go on answering.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lab/fmsim/console.h"
#include "lab/sim/pma.h"
#include "lab/sim/spec.h"
#include "tests/fuzz/fuzz.h"

#define S INT64_C(1000000000)
#define LINES_MAX 64
#define KEYS_MAX 256

static const char fabric_text[] = "Switch 4 \"s\"\n[1] \"a\"[1]\n[2] \"b\"[1]\n[3] \"t\"[3]\n\n"
				  "Switch 4 \"t\"\n[1] \"c\"[1]\n[3] \"s\"[3]\n\n"
				  "Ca 2 \"a\"\n[1] \"s\"[1]\n\nCa 1 \"b\"\n[1] \"s\"[2]\n\n"
				  "Ca 1 \"c\"\n[1] \"t\"[1]\n";

/* The fabric as a file that needs no disk. */
static const char *
fabric_path(void)
{
	static char path[64];
	int fd;

	if (path[0] == '\0') {
		fd = memfd_create("fabric", 0);
		must(fd >= 0 &&
		    write(fd, fabric_text, sizeof(fabric_text) - 1) == sizeof(fabric_text) - 1);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	return path;
}

/* A simulation with these keys, or, where they are none, without.  Scripts that lie in
 * files are not ours. */
static struct sim *
open_with(const char *keys)
{
	char spec[KEYS_MAX + 128];
	struct fm_error err = { 0 };
	struct sim_place local;
	struct sim *s = NULL;

	snprintf(spec, sizeof(spec), "%s,%.*s", fabric_path(), KEYS_MAX, keys);
	if (strlen(keys) < KEYS_MAX && strstr(keys, "script") == NULL &&
	    strstr(keys, "clock") == NULL) {
		if (spec_open(spec, &s, &local, &err) == 0)
			return s;
		must(err.kind == FM_E_CONFIG && err.msg[0] != '\0');
	}
	must(spec_open(fabric_path(), &s, &local, &err) == 0);
	return s;
}

static void
command(struct sim *s, const char *line)
{
	char *answer = NULL;

	console_do(s, line, &answer);
	must(answer == NULL || answer[0] != '\0');
	free(answer);
}

/* What stands before the next such letter; *rest goes on behind it, NULL at the end. */
static char *
cut(char **rest, char letter)
{
	char *from = *rest, *to = from != NULL ? strchr(from, letter) : NULL;
	static char nothing[1];

	if (to != NULL)
		*to++ = '\0';
	*rest = to;
	return from != NULL ? from : nothing;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *rest = text, *keys, *script;
	struct fm_error err = { 0 };
	struct sim *s;

	must(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	fuzz_be_quiet();
	keys = cut(&rest, '\f');
	script = cut(&rest, '\f');
	s = open_with(keys);
	must(pma_start(sim_fabric(s)));
	if (sim_script(s, "script", script, &err) != 0)
		must(err.kind == FM_E_CONFIG && strncmp(err.msg, "script:", 7) == 0);
	sim_run(s, S);
	for (int i = 0; i < LINES_MAX && rest != NULL; i++) {
		command(s, cut(&rest, '\n'));
		sim_run(s, sim_now_ns(s) + S / 100);
	}
	sim_run(s, sim_now_ns(s) + 3 * S);
	command(s, "dump s");
	sim_free(s);
	free(text);
	return 0;
}
