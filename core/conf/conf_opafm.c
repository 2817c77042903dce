/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * opa-fm's file (core/opensm/opafm.h) printed as a fmd.conf.
 */
#include <string.h>

#include "core/abi/options.h"
#include "core/conf/conf_import.h"
#include "core/conf/conf_opensm.h"
#include "core/conf/conf_private.h"
#include "core/opensm/opafm.h"
#include "core/text/readfile.h"

/* Without a name that would lead sentences. */
static struct option_table
table_of(const struct opensm_setting *s, bool of_vfabric)
{
	struct option_table table = of_vfabric ? conf_section_table(conf_section_find("vfabric"))
	    : s->engine != NULL		       ? option_table_of(s->engine)
					       : conf_option_table();

	if (of_vfabric)
		table.name = "";
	return table;
}

/* "FILE:LINE: lmc = 9 is outside 0..7" gets the name that stands there. */
static int
check_setting(const struct opensm_setting *s, bool of_vfabric, const char *path,
    struct fm_arena *mem, struct fm_error *err)
{
	const struct option_origin origin = { .file = "file", .line = s->from->line };
	struct option_table table = table_of(s, of_vfabric);
	struct option_values *values = option_values_new(mem, &table, table.name);
	struct fm_error said;

	if (values == NULL)
		return conf_out_of_memory(err);
	if (strcmp(s->to, "chain") == 0 || strcmp(s->to, "groups") == 0 ||
	    option_values_set(values, s->to, s->items, s->n_items, &origin, &said) == 0)
		return 0;
	return conf_fail_at(err, path, s->from->line, "%s:%s", s->from->key->name,
	    said.msg + strcspn(said.msg, " "));
}

/* All that is wrong into `all`; the last of it in *err. */
static int
check(const struct opafm *x, const char *path, struct mistakes *all, struct fm_error *err)
{
	int rc = x->o.out_of_memory ? conf_out_of_memory(err) : 0, one;
	size_t n_own = x->o.settings.n;

	for (size_t i = 0; i < x->o.told[OPENSM_BAD].n && (rc == 0 || rc == FM_E_CONFIG); i++) {
		rc = conf_fail_at(err, path, x->o.told[OPENSM_BAD].item[i].line, "%s",
		    x->o.told[OPENSM_BAD].item[i].text);
		mistakes_note(all, err);
	}
	for (size_t i = 0; i < n_own + x->vfabric_settings.n && (rc == 0 || rc == FM_E_CONFIG);
	     i++) {
		const struct opensm_setting *s =
		    i < n_own ? &x->o.settings.item[i] : &x->vfabric_settings.item[i - n_own];

		one = check_setting(s, i >= n_own, path, x->o.mem, err);
		rc = one != 0 ? one : rc;
		if (one == FM_E_CONFIG)
			mistakes_note(all, err);
	}
	return rc;
}

int
conf_import_opafm(const char *path, const struct engine_set *engines, FILE *out,
    struct mistakes *all, struct fm_error *err)
{
	const struct import_words words = { path, "opafm", "opa-fm", "RoutingAlgorithm",
		"shortestpath" };
	struct fm_arena mem;
	const char *text;
	struct opafm x;
	size_t n;
	int rc;

	fm_arena_init(&mem, SIZE_MAX);
	opafm_init(&x, &mem, engines);
	rc = conf_read_file(path, &mem, &text, &n, err);
	if (rc == 0)
		rc = opafm_read(&x, path, text, n, err);
	if (rc == 0) {
		opafm_translate(&x, conf_default_chain());
		rc = check(&x, path, all, err);
	}
	if (rc == 0) {
		conf_print_import(&x.o, &words, out);
		conf_print_groups(&x, out);
		conf_print_vfabrics(&x, out);
	}
	opafm_fini(&x);
	fm_arena_fini(&mem);
	return rc;
}
