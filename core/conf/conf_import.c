/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The settings that another manager's configuration comes to, printed as a fmd.conf.
 */
#include "core/conf/conf_import.h"

#include <stdlib.h>
#include <string.h>

#include "core/abi/options.h"
#include "core/conf/conf_opensm.h"
#include "core/conf/conf_private.h"
#include "core/conf/describe.h"
#include "core/text/readfile.h"
#include "lib/error.h"

static void
print_text(const char *text, FILE *out)
{
	fputc('\'', out);
	for (; *text != '\0'; text++) {
		if (*text == '\'' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('\'', out);
}

/* row: its own; words: its value is a list of them. */
static void
print_one(const struct opensm_setting *s, const struct fm_option *row, bool words,
    const char *indent, FILE *out)
{
	const struct opensm_line *l = s->from;
	char text[512], lead[8];

	snprintf(lead, sizeof(lead), "%s# ", indent);
	if (l->line > 0)
		snprintf(text, sizeof(text), "line %u: %s%s%s%s%s", l->line, l->key->name,
		    *l->value != '\0' ? " " : "", l->value, l->key->note != NULL ? ": " : "",
		    l->key->note != NULL ? l->key->note : "");
	else
		snprintf(text, sizeof(text), "No line says so, but OpenSM reads it all the same.");
	describe_wrapped(text, lead, out);
	fprintf(out, "%s%s = ", indent,
	    s->engine == NULL ? s->to + conf_section_bytes(s->to) + (strchr(s->to, '.') != NULL)
			      : s->to);
	if (words || option_is_list(row)) {
		fputs("{ ", out);
		for (size_t i = 0; i < s->n_items; i++) {
			fputs(i > 0 ? ", " : "", out);
			print_text(s->items[i], out);
		}
		fputs(" }", out);
	} else if (row->type == FM_OPT_STRING || row->type == FM_OPT_FILE) {
		print_text(s->items[0], out);
	} else {
		fputs(s->items[0], out);
	}
	fputs("\n\n", out);
}

static void
print_setting(const struct opensm_setting *s, const char *indent, FILE *out)
{
	struct option_table table =
	    s->engine != NULL ? option_table_of(s->engine) : conf_option_table();

	print_one(s, option_find(&table, s->to), s->engine == NULL && strcmp(s->to, "chain") == 0,
	    indent, out);
}

/* The settings "SECTION.key" of fmd's own, from number i on: all of one section. */
static void
print_own_section(const struct opensm *o, size_t i, FILE *out)
{
	const char *section = o->settings.item[i].to;
	size_t bytes = conf_section_bytes(section) + 1;

	for (size_t k = 0; k < i; k++)
		if (strncmp(o->settings.item[k].to, section, bytes) == 0)
			return; /* it was the first one's */
	fprintf(out, "%.*s {\n", (int)bytes - 1, section);
	for (; i < o->settings.n; i++)
		if (strncmp(o->settings.item[i].to, section, bytes) == 0)
			print_setting(&o->settings.item[i], "\t", out);
	fputs("}\n\n", out);
}

/* The settings of engines, a section each. */
static void
print_sections(const struct opensm *o, FILE *out)
{
	for (uint32_t e = 0; e < o->engines->n_engines; e++) {
		const struct fm_engine *engine = o->engines->engines[e].engine;
		bool any = false;

		for (size_t i = 0; i < o->settings.n; i++) {
			if (o->settings.item[i].engine != engine)
				continue;
			if (!any)
				fprintf(out, "%s {\n", engine->name);
			any = true;
			print_setting(&o->settings.item[i], "\t", out);
		}
		if (any)
			fputs("}\n\n", out);
	}
}

static void
print_told(const struct opensm *o, enum opensm_told what, FILE *out)
{
	char text[512];

	for (size_t i = 0; i < o->told[what].n; i++) {
		const struct opensm_remark *r = &o->told[what].item[i];

		snprintf(text, sizeof(text), "line %u: %s", r->line, r->text);
		describe_wrapped(text, "# ", out);
		fputc('\n', out);
	}
}

/* What needs no line here: fmd does it anyway, or cannot. */
static void
print_others(const struct opensm *o, FILE *out)
{
	char text[512];

	for (size_t i = 0; i < o->lines.n; i++) {
		const struct opensm_line *l = &o->lines.item[i];

		if (l->key->fate != OPENSM_ALWAYS || strcmp(l->value, l->key->def) == 0)
			continue;
		snprintf(text, sizeof(text), "line %u: %s %s needs nothing: %s", l->line,
		    l->key->name, l->value, l->key->note);
		describe_wrapped(text, "# ", out);
		fputc('\n', out);
	}
	print_told(o, OPENSM_ABSENT, out);
	print_told(o, OPENSM_STRAY, out);
	print_told(o, OPENSM_HINT, out);
}

static bool
is_set(const struct opensm *o, const char *option)
{
	for (size_t i = 0; i < o->settings.n; i++)
		if (strcmp(o->settings.item[i].to, option) == 0)
			return true;
	return false;
}

void
conf_print_import(const struct opensm *o, const struct import_words *words, FILE *out)
{
	fprintf(out,
	    "# The fmd.conf of %s, as fmd --import-%s reads it.  What\n"
	    "# stands there at %s's default is left out: fmd's own default holds, see\n"
	    "# fmd.conf(5) and fmd-opensm(7).\n\n",
	    words->path, words->option, words->manager);
	if (!is_set(o, "chain"))
		fprintf(out, "# No %s: %s would take %s, fmd has { %s }.\n\n", words->chain_key,
		    words->manager, words->chain, conf_default_chain());
	for (size_t i = 0; i < o->settings.n; i++)
		if (o->settings.item[i].engine == NULL &&
		    strchr(o->settings.item[i].to, '.') == NULL)
			print_setting(&o->settings.item[i], "", out);
		else if (o->settings.item[i].engine == NULL)
			print_own_section(o, i, out);
	print_sections(o, out);
	print_others(o, out);
}

void
conf_print_groups(const struct opafm *x, FILE *out)
{
	for (size_t i = 0; i < x->groups.n; i++) {
		const struct opafm_group *g = &x->groups.item[i];

		fprintf(out, "# line %u: the device group %s\ngroup \"%s\" {\n\tmembers = {",
		    g->line, g->said, g->name);
		for (size_t k = 0; k < g->n_items; k++) {
			fprintf(out, "%s\n\t\t", k > 0 ? "," : "");
			print_text(g->items[k], out);
			fprintf(out, " /* line %u */", g->lines[k]);
		}
		fputs("\n\t}\n}\n\n", out);
	}
}

void
conf_print_vfabrics(const struct opafm *x, FILE *out)
{
	struct option_table table = conf_section_table(conf_section_find("vfabric"));

	for (size_t i = 0; i < x->vfabrics.n; i++) {
		const struct opafm_vfabric *v = &x->vfabrics.item[i];

		fprintf(out, "# line %u: the virtual fabric %s%s%s\nvfabric \"%s\" {\n", v->line,
		    v->said, v->qos_group != NULL ? ", in the QOSGroup " : "",
		    v->qos_group != NULL ? v->qos_group : "", v->name);
		for (size_t k = 0; k < v->n_settings; k++) {
			const struct opensm_setting *s =
			    &x->vfabric_settings.item[v->first_setting + k];

			print_one(
			    s, option_find(&table, s->to), strcmp(s->to, "groups") == 0, "\t", out);
		}
		fputs("}\n\n", out);
	}
}

int
conf_import_opensm(
    const char *path, const struct engine_set *engines, FILE *out, struct fm_error *err)
{
	const struct conf_source source = { .path = path };
	struct opensm_chain chains = { NULL, conf_default_chain() };
	struct fm_arena mem;
	char *whole = realpath(path, NULL), *slash = whole != NULL ? strrchr(whole, '/') : NULL;
	const char *text;
	struct conf *conf;
	struct opensm o;
	size_t n;
	int rc;

	fm_arena_init(&mem, SIZE_MAX);
	opensm_init(&o, &mem, engines);
	if (slash != NULL)
		slash[1] = '\0';
	o.folder = whole;
	rc = conf_read_file(path, &mem, &text, &n, err);
	if (rc == 0 && !opensm_is_form(text, n))
		rc = fm_fail(err, FM_E_CONFIG,
		    "%s is not of OpenSM's form: lines \"key value\" without '='", path);
	if (rc == 0 && (rc = conf_load(&source, engines, &conf, err)) == 0) {
		conf_put(conf); /* it was loaded for its mistakes */
		opensm_read(&o, text, n);
		opensm_translate(&o, &chains, true);
		if (o.out_of_memory)
			rc = conf_out_of_memory(err);
		else
			conf_print_import(&o,
			    &(struct import_words){
				path, "opensm", "OpenSM", "routing_engine", "minhop" },
			    out);
	}
	opensm_fini(&o);
	fm_arena_fini(&mem);
	free(whole);
	return rc;
}
