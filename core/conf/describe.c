/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One row, four documents: help, the commented file, the man page, JSON.
 */
#include "core/conf/describe.h"

#include <jansson.h>
#include <string.h>

#include "core/abi/options.h"
#include "core/abi/plugin_check.h"
#include "core/apart/programmer.h"
#include "core/conf/conf.h"
#include "core/events/kinds.h"
#include "core/opensm/opafm.h"
#include "core/opensm/opensm.h"
#include "core/text/json_text.h"

#define WIDTH 78 /* columns of text */

void
describe_wrapped(const char *text, const char *lead, FILE *out)
{
	size_t col = 0;

	for (const char *p = text; *p != '\0';) {
		size_t n = strcspn(p, " ");

		if (col > 0 && col + 1 + n > WIDTH) {
			fputc('\n', out);
			col = 0;
		}
		col += (size_t)fprintf(out, "%s%.*s", col == 0 ? lead : " ", (int)n, p);
		p += n + strspn(p + n, " ");
	}
	fputc('\n', out);
}

static void
print_traits(const struct fm_engine *e, FILE *out)
{
	const char *comma = "";

	for (const struct engine_trait *t = engine_traits(); t->bit != 0; t++)
		if (e->traits & t->bit) {
			fprintf(out, "%s%s", comma, t->name);
			comma = " ";
		}
}

static void
print_aliases(const struct fm_engine *e, FILE *out)
{
	for (const char *const *a = e->aliases; a != NULL && *a != NULL; a++)
		fprintf(out, "%s%s", a == e->aliases ? "" : ", ", *a);
}

void
describe_engines(const struct engine_set *set, FILE *out)
{
	for (uint32_t i = 0; i < set->n_engines; i++) {
		const struct fm_engine *e = set->engines[i].engine;

		fprintf(out, "%s", e->name);
		if (e->aliases != NULL && e->aliases[0] != NULL) {
			fprintf(out, " (");
			print_aliases(e, out);
			fprintf(out, ")");
		}
		fprintf(out, "\n    %s\n    ABI %u.%u, ", e->summary, e->abi_major, e->abi_minor);
		print_traits(e, out);
		fprintf(out, "\n    %s%s\n", set->engines[i].path,
		    set->engines[i].apart != NULL ? ", in a process of its own" : "");
	}
	if (set->n_engines == 1) /* auto alone */
		fprintf(out, "No engines found.\n");
	for (uint32_t i = 0; i < set->n_refused; i++)
		fprintf(out, "%srefused: %s\n", i == 0 ? "\n" : "", set->refused[i].reason);
}

void
describe_programmers(const struct vendors *v, FILE *out)
{
	if (v->n_vendors + v->n_refused > 0)
		fprintf(out, "\nProgrammers of adaptive routing:\n");
	for (size_t i = 0; i < v->n_vendors; i++)
		fprintf(out, "%s\n    %s\n    ABI %u.%u%s\n", v->vendor[i]->name,
		    v->vendor[i]->summary, v->vendor[i]->abi_major, v->vendor[i]->abi_minor,
		    programmer_of(v->vendor[i]) != NULL ? ", in a process of its own" : "");
	for (size_t i = 0; i < v->n_refused; i++)
		fprintf(out, "refused: %s\n", v->refused[i].reason);
}

static const char *
type_name(enum fm_opt_type type)
{
	static const char *const names[] = { "", "bool", "int", "duration", "enum", "string",
		"nodes", "nodes list", "table", "file" };

	return (size_t)type < sizeof(names) / sizeof(*names) ? names[type] : "";
}

static json_t *
option_json(const struct fm_option *row)
{
	char range[256];

	option_describe(row, range, sizeof(range));
	return json_pack("{s:s, s:s, s:s, s:s, s:s?, s:s}", "name", row->name, "type",
	    type_name(row->type), "default", row->def != NULL ? row->def : "", "range", range,
	    "unit", row->unit, "help", row->help);
}

static json_t *
engine_json(const struct engine_file *file)
{
	const struct fm_engine *e = file->engine;
	struct option_table table = option_table_of(e);
	json_t *names = json_array(), *aliases = json_array(), *options = json_array();
	const struct fm_option *row;

	for (const struct engine_trait *t = engine_traits(); t->bit != 0; t++)
		if (e->traits & t->bit)
			json_array_append_new(names, json_string(t->name));
	for (const char *const *a = e->aliases; a != NULL && *a != NULL; a++)
		json_array_append_new(aliases, json_string(*a));
	for (size_t i = 0; (row = option_row(&table, i)) != NULL; i++)
		json_array_append_new(options, option_json(row));
	return json_pack("{s:s, s:s, s:o, s:s, s:b, s:[i,i], s:o, s:o}", "name", e->name, "summary",
	    e->summary, "aliases", aliases, "path", file->path, "isolated", file->apart != NULL,
	    "abi", e->abi_major, e->abi_minor, "traits", names, "options", options);
}

static json_t *
refusal_json(const char *path, const char *reason)
{
	return json_pack("{s:o, s:o}", "path", json_text(path), "reason", json_text(reason));
}

static json_t *
programmers_json(const struct vendors *v)
{
	json_t *list = json_array();

	for (size_t i = 0; i < v->n_vendors; i++)
		json_array_append_new(list,
		    json_pack("{s:s, s:s, s:b, s:[i,i]}", "name", v->vendor[i]->name, "summary",
			v->vendor[i]->summary, "isolated", programmer_of(v->vendor[i]) != NULL,
			"abi", v->vendor[i]->abi_major, v->vendor[i]->abi_minor));
	return list;
}

int
describe_engines_json(
    const struct engine_set *set, const struct vendors *v, FILE *out, struct fm_error *err)
{
	json_t *engines = json_array(), *refused = json_array(), *all;
	int rc;

	for (uint32_t i = 0; i < set->n_engines; i++)
		json_array_append_new(engines, engine_json(&set->engines[i]));
	for (uint32_t i = 0; i < set->n_refused; i++)
		json_array_append_new(
		    refused, refusal_json(set->refused[i].path, set->refused[i].reason));
	for (size_t i = 0; i < v->n_refused; i++)
		json_array_append_new(
		    refused, refusal_json(v->refused[i].path, v->refused[i].reason));
	all = json_pack("{s:[i,i], s:o, s:o, s:o}", "abi", FM_ABI_MAJOR, FM_ABI_MINOR, "engines",
	    engines, "programmers", programmers_json(v), "refused", refused);
	if (all == NULL)
		return fm_fail(err, FM_E_RESOURCE, "the list of engines cannot be written as JSON");
	rc = json_dumpf(all, out, JSON_INDENT(2));
	fputc('\n', out);
	json_decref(all);
	return rc == 0 ? 0 : fm_fail(err, FM_E_SYSTEM, "the list of engines cannot be written");
}

/* A value as it is written in the file. */
static void
print_value(const struct fm_option *row, bool words, FILE *out)
{
	const char *def = row->def != NULL ? row->def : "";

	if (words || option_is_list(row)) {
		fprintf(out, "{");
		for (const char *p = def; *p != '\0'; p += strspn(p, ", ")) {
			fprintf(out, "%s\"%.*s\"", p == def ? " " : ", ", (int)strcspn(p, ", "), p);
			p += strcspn(p, ", ");
		}
		fprintf(out, " }");
	} else if (row->type == FM_OPT_STRING || row->type == FM_OPT_FILE) {
		fprintf(out, "\"%s\"", def);
	} else {
		fprintf(out, "%s", def);
	}
}

static void
print_help(const struct fm_option *row, bool words, FILE *out)
{
	char range[256];

	option_describe(row, range, sizeof(range));
	fprintf(out, "  %s = ", row->name);
	print_value(row, words, out);
	fprintf(out, "    (%s)\n", range);
	describe_wrapped(row->help, "      ", out);
}

void
describe_engine(const struct fm_engine *engine, const char *path, FILE *out)
{
	size_t n_shown = 0;
	struct option_table table = option_table_of(engine), entry = entry_option_table();
	const struct fm_option *row;

	fprintf(out, "%s: %s\n", engine->name, engine->summary);
	fprintf(
	    out, "  file     %s, engine ABI %u.%u\n", path, engine->abi_major, engine->abi_minor);
	if (engine->aliases != NULL && engine->aliases[0] != NULL) {
		fprintf(out, "  aliases  ");
		print_aliases(engine, out);
		fprintf(out, "\n");
	}
	for (const struct engine_trait *t = engine_traits(); t->bit != 0; t++)
		if (engine->traits & t->bit)
			fprintf(out, "  %s  %s\n", n_shown++ == 0 ? "traits " : "       ", t->help);
	if (option_row(&table, 0) == NULL)
		fprintf(out,
		    "\nIt has no options of its own. A section %s { ... } of fmd.conf takes those "
		    "of "
		    "every engine, with their defaults:\n\n",
		    engine->name);
	else
		fprintf(out,
		    "\nOptions, in a section %s { ... } of fmd.conf, with their defaults:\n\n",
		    engine->name);
	for (size_t i = 0; (row = option_row(&table, i)) != NULL; i++)
		print_help(row, false, out);
	for (size_t i = 0; (row = option_row(&entry, i)) != NULL; i++)
		print_help(row, false, out);
}

static void
print_section_rows(const struct conf_section *s, FILE *out)
{
	for (const struct conf_row *row = s->rows; row->option.type != FM_OPT_END; row++)
		print_help(&row->option, row->words, out);
}

/* The keys of group "NAME" and region "NAME". */
static void
describe_sections(FILE *out)
{
	const struct conf_section *s;

	for (size_t i = 0; (s = conf_section(i)) != NULL; i++) {
		fprintf(out, "\nSections %s \"NAME\" { ... }:\n", s->name);
		print_section_rows(s, out);
	}
}

void
describe_section(const struct conf_section *s, FILE *out)
{
	fprintf(out,
	    "%s: any number of sections of fmd.conf, each with a name of its own\n\n    %s\n\n"
	    "Options, with their defaults:\n\n",
	    s->name, s->example);
	print_section_rows(s, out);
}

void
describe_daemon_options(FILE *out)
{
	const struct conf_row *row;

	for (size_t i = 0; (row = conf_row(i)) != NULL; i++) {
		if (row->group != NULL)
			fprintf(out, "%s%s:\n", i > 0 ? "\n" : "", row->group);
		print_help(&row->option, row->words, out);
	}
	describe_sections(out);
}

/* --------------------------------------------------------------- fmd.conf */

static void
print_commented(const struct fm_option *row, bool words, const char *indent, FILE *out)
{
	size_t section = conf_section_bytes(row->name);
	const char *key = section > 0 ? row->name + section + 1 : row->name;
	char range[256], lead[16];

	option_describe(row, range, sizeof(range));
	snprintf(lead, sizeof(lead), "%s# ", indent);
	describe_wrapped(row->help, lead, out);
	fprintf(out, "%s# %s.\n%s#%s = ", indent, range, indent, key);
	print_value(row, words, out);
	fprintf(out, "\n\n");
}

/* The daemon's rows, those of a section within it. */
static void
print_daemon_rows(FILE *out)
{
	const struct conf_row *row, *next;

	for (size_t i = 0; (row = conf_row(i)) != NULL; i++) {
		size_t section = conf_section_bytes(row->option.name);

		if (row->group != NULL)
			fprintf(out, "# ---- %s\n\n", row->group);
		if (row->group != NULL && section > 0)
			fprintf(out, "%.*s {\n", (int)section, row->option.name);
		print_commented(&row->option, row->words, section > 0 ? "\t" : "", out);
		next = conf_row(i + 1);
		if (section > 0 && (next == NULL || next->group != NULL))
			fputs("}\n\n", out);
	}
}

/* Sections that one may write as often as one likes: in words, with an example. */
static void
print_titled(FILE *out)
{
	const struct conf_section *s;
	char text[512], range[256];

	for (size_t i = 0; (s = conf_section(i)) != NULL; i++) {
		fprintf(out, "# Any number of sections %s \"NAME\":\n#\n#     %s\n#\n", s->name,
		    s->example);
		for (const struct conf_row *row = s->rows; row->option.type != FM_OPT_END; row++) {
			option_describe(&row->option, range, sizeof(range));
			snprintf(text, sizeof(text), "%s (%s): %s", row->option.name, range,
			    row->option.help);
			describe_wrapped(text, "# ", out);
		}
		fputc('\n', out);
	}
}

static void
print_section(const struct fm_engine *e, FILE *out)
{
	struct option_table table = option_table_of(e);
	const struct fm_option *row;

	fprintf(out, "# %s: %s\n", e->name, e->summary);
	if (option_row(&table, 0) == NULL) {
		fprintf(out, "# It has no options.\n\n");
		return;
	}
	fprintf(out, "%s {\n", e->name);
	for (size_t i = 0; (row = option_row(&table, i)) != NULL; i++)
		print_commented(row, false, "\t", out);
	fprintf(out, "}\n\n");
}

void
describe_conf_file(const struct engine_set *set, FILE *out)
{
	struct option_table entry = entry_option_table();
	const struct fm_option *row;

	fputs("# fmd.conf: every option with its default, commented out.  See fmd.conf(5).\n"
	      "# Files conf.d/*.conf beside this one are read after it, by name.\n"
	      "# \"${VAR}\" in double quotes is taken from the environment; 'text' stays as it "
	      "is.\n\n",
	    out);
	print_daemon_rows(out);
	print_titled(out);
	fputs("# ---- Engines\n"
	      "# A section NAME { ... } holds the options of an engine as a chain names it; a\n"
	      "# section NAME \"title\" { ... } those of the entry \"NAME:title\".\n\n",
	    out);
	for (size_t i = 0; (row = option_row(&entry, i)) != NULL; i++) {
		fprintf(out, "# Any of them may say %s = %s, too:\n", row->name, row->def);
		describe_wrapped(row->help, "# ", out);
		fputc('\n', out);
	}
	for (uint32_t i = 0; i < set->n_engines; i++)
		print_section(set->engines[i].engine, out);
}

/* ----------------------------------------------------------- fmd.conf(5) */

/* Text with what troff would take for its own escaped. */
static void
print_troff(const char *text, FILE *out)
{
	for (const char *p = text; *p != '\0'; p++) {
		if ((*p == '.' || *p == '\'') && p == text)
			fputs("\\&", out);
		if (*p == '-')
			fputs("\\-", out);
		else if (*p == '\\')
			fputs("\\e", out);
		else
			fputc(*p, out);
	}
}

static void
print_man_row(const struct fm_option *row, bool words, FILE *out)
{
	char range[256];

	option_describe(row, range, sizeof(range));
	fprintf(out, ".TP\n.BR %s \" = ", row->name);
	if (words || option_is_list(row))
		fprintf(out, "{ %s }", row->def != NULL ? row->def : "");
	else
		print_troff(row->def != NULL && *row->def != '\0' ? row->def : "(nothing)", out);
	fputs("\"\n", out);
	print_troff(row->help, out);
	fputs("\nWritten as: ", out);
	print_troff(range, out);
	fputs(".\n", out);
}

static void
print_man_section(const struct conf_section *s, FILE *out)
{
	fprintf(out, ".SS %s \\(dqNAME\\(dq { ... }\nAny number of them:\n.IP\n", s->name);
	print_troff(s->example, out);
	fputc('\n', out);
	for (const struct conf_row *row = s->rows; row->option.type != FM_OPT_END; row++)
		print_man_row(&row->option, row->words, out);
}

/* -------------------------------------------------------- fmd-opensm(7) */

static const char *
fate_words(enum opensm_fate fate)
{
	switch (fate) {
	case OPENSM_SAME:
	case OPENSM_SPECIAL:
		return "is ";
	case OPENSM_SECONDS:
		return "in seconds, is ";
	case OPENSM_MS:
		return "in milliseconds, is ";
	case OPENSM_INVERSE:
		return "is the contrary of ";
	case OPENSM_LIFE:
		return "a time, is the next code from ";
	case OPENSM_ENGINE:
		return "is, in the sections of the engines that have it, ";
	case OPENSM_GUIDS:
		return "a file, is, in the sections of the engines that have it, ";
	case OPENSM_ALWAYS:
		return "needs nothing: ";
	case OPENSM_NONE:
		return "has no counterpart: ";
	}
	return "";
}

static void
print_key(const struct opensm_key *k, FILE *out)
{
	fprintf(out, ".TP\n.BR %s \" ", k->name);
	print_troff(k->def, out);
	fprintf(out, "\"\n%s", fate_words(k->fate));
	if (k->to != NULL)
		fprintf(out, "\n.BR %s%s%s%s\n", k->to,
		    k->or_to == NULL		 ? ""
			: k->fate == OPENSM_LIFE ? " \" and \" "
						 : " \" or \" ",
		    k->or_to != NULL ? k->or_to : "", k->note != NULL ? " :" : " .");
	if (k->note != NULL) {
		print_troff(k->note, out);
		fputs(".\n", out);
	}
}

static void
print_console(FILE *out)
{
	const struct opensm_command *c;

	fputs(".SH CONSOLE\nThe commands of OpenSM's console, and what is done here.\n", out);
	for (size_t i = 0; (c = opensm_command(i)) != NULL; i++) {
		fprintf(out, ".TP\n.B %s%s%s\n", c->name, c->word != NULL ? " " : "",
		    c->word != NULL ? c->word : "");
		print_troff(c->here, out);
		fputs(".\n", out);
	}
}

void
describe_man_opensm(FILE *out)
{
	const struct opensm_key *k;
	const struct opensm_option *o;

	fputs(".SH KEYS\nThe keys of OpenSM's file with their defaults.\n", out);
	for (size_t i = 0; (k = opensm_key(i)) != NULL; i++)
		print_key(k, out);
	fputs(
	    ".SH KEYS OF OPA-FM\nThe elements of opa\\-fm's file below\n.BR Sm \" and \" Shared ,\n"
	    "with their defaults, and those beside them.\nA name of several is of all in it.\n",
	    out);
	for (size_t i = 0; (k = opafm_key(i)) != NULL; i++)
		print_key(k, out);
	print_console(out);
	fputs(".SH OPTIONS\nThe options of OpenSM's command line, by the keys above.\n", out);
	for (size_t i = 0; (o = opensm_option(i)) != NULL; i++) {
		fputs(".TP\n.B ", out);
		if (o->letter != '\0')
			fprintf(out, "\\-%c, ", o->letter);
		fputs("\\-\\-", out);
		print_troff(o->name, out);
		if (o->number != NULL)
			fprintf(out, " %s", *o->number != '\0' ? o->number : "\\fIOTHER\\fR");
		if (o->key != NULL)
			fprintf(out, "\n%s %s\n", o->key,
			    o->value != NULL ? o->value : "\\fIVALUE\\fR");
		else {
			fputs("\nIs refused: ", out);
			print_troff(o->value, out);
			fputs(".\n", out);
		}
	}
}

void
describe_man_events(FILE *out)
{
	fputs(".SH KINDS\nThose marked (lasts) have an end.\n", out);
	for (unsigned k = EVENT_NONE + 1; k < N_EVENT_KINDS; k++) {
		enum event_kind kind = (enum event_kind)k;

		if (kind == EVENT_WARNING_AUDIT)
			fputs(".SS Other warnings and errors\n"
			      "Those without a kind of their own have that of their subsystem.\n",
			    out);
		fputs(".TP\n.B ", out);
		print_troff(event_kind_name(kind), out);
		fputs(event_kind_lasts(kind) ? "\n(lasts) " : "\n", out);
		print_troff(event_kind_means(kind), out);
		fputc('\n', out);
	}
}

void
describe_man_options(const struct engine_set *set, FILE *out)
{
	struct option_table entry = entry_option_table();
	const struct fm_option *option;
	const struct conf_row *row;

	fputs(".SH OPTIONS OF THE DAEMON\n", out);
	for (size_t i = 0; (row = conf_row(i)) != NULL; i++) {
		if (row->group != NULL)
			fprintf(out, ".SS %s\n", row->group);
		print_man_row(&row->option, row->words, out);
		if (row->alias != NULL)
			fprintf(out, "Also read as\n.BR %s ,\nas opa\\-fm has it.\n", row->alias);
		if (row->restart)
			fputs("A change needs a restart.\n", out);
	}
	for (size_t i = 0; conf_section(i) != NULL; i++)
		print_man_section(conf_section(i), out);
	fputs(".SH OPTIONS OF THE ENGINES\n.SS every engine\n", out);
	for (size_t i = 0; (option = option_row(&entry, i)) != NULL; i++)
		print_man_row(option, false, out);
	for (uint32_t i = 0; i < set->n_engines; i++) {
		struct option_table table = option_table_of(set->engines[i].engine);

		fprintf(out, ".SS %s\n", set->engines[i].engine->name);
		print_troff(set->engines[i].engine->summary, out);
		fputc('\n', out);
		for (size_t k = 0; (option = option_row(&table, k)) != NULL; k++)
			print_man_row(option, false, out);
	}
}
