/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmroute gen, fail, convert, shuffle: subcommands whose result is a fabric.
 */
#include "tools/fmroute.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/topo/netlist.h"
#include "lib/error.h"

/* Write and let go. */
static int
write_and_free(struct netlist *nl)
{
	struct fm_error err;
	int rc = netlist_write(nl, stdout, &err);

	netlist_fini(nl);
	return rc != 0 ? fmroute_report(&err) : 0;
}

int
fmroute_gen(int argc, char **argv)
{
	struct netlist nl = { 0 };
	struct fm_error err;

	if (netlist_generate(argc - 1, argv + 1, &nl, &err) != 0)
		return fmroute_report(&err);
	printf("#");
	for (int i = 0; i < argc; i++)
		printf(" %s", argv[i]);
	printf("\n");
	return write_and_free(&nl);
}

int
fmroute_convert(int argc, char **argv)
{
	struct netlist nl = { 0 };
	struct fm_error err;

	if (argc != 2) {
		fprintf(stderr, "usage: fmroute convert FABRIC\n");
		return FMROUTE_EXIT_USAGE;
	}
	if (netlist_read(argv[1], &nl, &err) != 0)
		return fmroute_report(&err);
	return write_and_free(&nl);
}

/* what: "--links=", "SEED ".  Digits, or hexadecimal ones behind 0x: no sign, no blank, and no 0
 * before others, which may be meant octal. */
static int
whole_number(
    const char *what, const char *text, uint64_t max, uint64_t *value, struct fm_error *err)
{
	bool is_hex = strncmp(text, "0x", 2) == 0;
	const char *digits = is_hex ? text + 2 : text;
	size_t n = strspn(digits, is_hex ? "0123456789abcdefABCDEF" : "0123456789");

	errno = 0;
	*value = strtoull(text, NULL, is_hex ? 16 : 10);
	if (n == 0 || digits[n] != '\0' || (!is_hex && n > 1 && *text == '0') || errno != 0 ||
	    *value > max)
		return fm_fail(err, FM_E_CONFIG, "%s%.40s: a number in 0..%llu is right", what,
		    text, (unsigned long long)max);
	return 0;
}

/* "5%", "0.5%" */
static int
percentage(const char *text, double *value, struct fm_error *err)
{
	size_t n = strspn(text, "0123456789");
	size_t n_behind = text[n] == '.' ? strspn(text + n + 1, "0123456789") : 0;
	const char *end = n_behind > 0 ? text + n + 1 + n_behind : text + n;

	*value = strtod(text, NULL);
	if (n == 0 || strcmp(end, "%") != 0 || *value > 100)
		return fm_fail(err, FM_E_CONFIG, "--links=%.40s: 0%% to 100%% are right", text);
	return 0;
}

/* "12" or "5%". */
static int
share(const char *text, struct netlist_faults *f, struct fm_error *err)
{
	uint64_t n;
	int rc;

	if (f->n_links > 0 || f->links_pct > 0)
		return fm_fail(err, FM_E_CONFIG, "--links=%.40s: --links is given twice", text);
	if (strchr(text, '%') != NULL)
		return percentage(text, &f->links_pct, err);
	rc = whole_number("--links=", text, UINT32_MAX, &n, err);
	f->n_links = (uint32_t)n;
	return rc;
}

static int
read_faults(int argc, char **argv, struct netlist_faults *f, struct fm_error *err)
{
	static const struct option options[] = { { "links", required_argument, NULL, 'l' },
		{ "switches", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'r' }, { 0 } };
	bool any = false;
	int c, rc = 0;
	uint64_t v = 0;

	while (rc == 0 && (c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		any = any || c != 'r';
		switch (c) {
		case 'l':
			rc = share(optarg, f, err);
			break;
		case 's':
			rc = whole_number("--switches=", optarg, UINT32_MAX, &v, err);
			f->n_switches = (uint32_t)v;
			break;
		case 'r':
			rc = whole_number("--seed=", optarg, UINT64_MAX, &f->seed, err);
			break;
		default:
			rc = fm_fail(err, FM_E_CONFIG,
			    "%s: fail takes --links=, --switches= and --seed=", argv[optind - 1]);
		}
	}
	if (rc == 0 && optind + 1 != argc)
		rc = fm_fail(err, FM_E_CONFIG, "fail takes one FABRIC, %d given", argc - optind);
	if (rc == 0 && !any)
		rc = fm_fail(err, FM_E_CONFIG,
		    "nothing is to fail: say how much by --links=N, --links=N%% or --switches=N");
	return rc;
}

int
fmroute_fail(int argc, char **argv)
{
	struct netlist_faults f = { .seed = 1 };
	struct netlist nl = { 0 };
	uint32_t n_links, n_switches;
	struct fm_error err;

	if (read_faults(argc, argv, &f, &err) != 0 || netlist_read(argv[optind], &nl, &err) != 0)
		return fmroute_report(&err);
	if (netlist_fail(&nl, &f, &n_links, &n_switches, &err) != 0) {
		netlist_fini(&nl);
		return fmroute_report(&err);
	}
	printf("# %.200s, seed %llu: without %u cables and %u switches\n", argv[optind],
	    (unsigned long long)f.seed, n_links, n_switches);
	return write_and_free(&nl);
}

int
fmroute_shuffle(int argc, char **argv)
{
	struct netlist nl = { 0 }, other = { 0 };
	uint64_t seed = 1;
	struct fm_error err;
	int rc;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: fmroute shuffle FABRIC [SEED]\n");
		return FMROUTE_EXIT_USAGE;
	}
	if ((argc > 2 && whole_number("SEED ", argv[2], UINT64_MAX, &seed, &err) != 0) ||
	    netlist_read(argv[1], &nl, &err) != 0)
		return fmroute_report(&err);
	rc = netlist_shuffle(&nl, seed, &other, &err);
	netlist_fini(&nl);
	return rc != 0 ? fmroute_report(&err) : write_and_free(&other);
}
