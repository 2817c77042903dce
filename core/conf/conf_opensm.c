/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenSM's file and command line (core/opensm) as options of fmd: into the same values that
 * conf_parse.c fills.
 */
#include <stdio.h>
#include <string.h>

#include "core/abi/options.h"
#include "core/conf/conf_private.h"
#include "core/opensm/opensm.h"
#include "core/text/readfile.h"
#include "lib/error.h"
#include "lib/log.h"

/* --------------------------------------------------------------- mistakes */

/* "FILE:LINE: sentence", or "-p: sentence" of the command line. */
static void
place(const char *path, const struct opensm_remark *r, struct fm_error *err)
{
	if (r->said != NULL)
		fm_fail(err, FM_E_CONFIG, "%s: %s", r->said, r->text);
	else
		conf_fail_at(err, path, r->line, "%s", r->text);
}

/* The mistakes of a file. */
struct mistake {
	unsigned line;
	const char *text;
};
struct told {
	struct fm_arena *mem;
	FM_VEC(struct mistake) list;
	bool out_of_memory;
};

static void
note_mistake(struct told *t, unsigned line, const struct fm_error *err)
{
	struct mistake m = { line, fm_arena_strdup(t->mem, err->msg) };

	t->out_of_memory |= m.text == NULL || !fm_vec_push(&t->list, m);
}

/* In the order of the lines, those of one line as they were found. */
static void
sort_mistakes(struct told *t)
{
	for (size_t i = 1; i < t->list.n; i++) {
		struct mistake m = t->list.item[i];
		size_t k = i;

		for (; k > 0 && t->list.item[k - 1].line > m.line; k--)
			t->list.item[k] = t->list.item[k - 1];
		t->list.item[k] = m;
	}
}

/* To where those of the other files are. */
static int
told_end(struct conf_private *self, struct told *t, struct fm_error *err)
{
	int rc = t->out_of_memory ? conf_out_of_memory(err) : 0;

	sort_mistakes(t);
	for (size_t i = 0; rc == 0 && i < t->list.n; i++) {
		fm_fail(err, FM_E_CONFIG, "%s", t->list.item[i].text);
		rc = conf_note(self, err);
	}
	fm_vec_fini(&t->list);
	return rc;
}

/* ------------------------------------------------------------------ values */

/* "FILE:LINE: max_smps = ..." gets the name of the key that stands there, "command line: ..." the
 * option. */
static int
name_key(const struct opensm_setting *s, const char *path, struct fm_error *err)
{
	const struct opensm_line *l = s->from;
	const struct fm_error said = *err;
	struct fm_error lead;
	const char *rest = said.msg;

	if (path != NULL)
		conf_fail_at(&lead, path, l->line, "%s", "");
	else
		fm_fail(&lead, FM_E_CONFIG, "command line: ");
	if (strncmp(rest, lead.msg, strlen(lead.msg)) == 0)
		rest += strlen(lead.msg);
	if (path == NULL)
		return fm_fail(err, FM_E_CONFIG, "%s: %s", l->said, rest);
	if (strcmp(l->key->name, s->to) == 0)
		return FM_E_CONFIG;
	return conf_fail_at(err, path, l->line, "%s: %s", l->key->name, rest);
}

static int
apply(struct conf_private *self, const struct opensm_setting *s, const char *path,
    struct fm_error *err)
{
	const struct option_origin origin = { .file = path, .line = s->from->line };
	struct instance *i;
	int rc;

	if (s->engine == NULL) {
		rc = conf_set(
		    self, self->own, conf_row(0), s->to, s->items, s->n_items, &origin, err);
	} else {
		i = conf_need_instance(self, s->engine, "");
		if (i == NULL)
			return conf_out_of_memory(err);
		i->file = path;
		i->line = s->from->line;
		rc = option_values_set(i->values, s->to, s->items, s->n_items, &origin, err);
	}
	return rc == FM_E_CONFIG ? name_key(s, path, err) : rc;
}

static void
warn_strays(const struct opensm *o, const char *path)
{
	size_t n = o->told[OPENSM_STRAY].n;

	if (n > 0)
		log_warn("conf", "%s: %zu key%s passed over:", path, n, n == 1 ? " is" : "s are");
	for (size_t i = 0; i < n; i++) {
		struct fm_error at;

		place(path, &o->told[OPENSM_STRAY].item[i], &at);
		log_warn("conf", "%s", at.msg);
	}
}

static void
warn_hints(const struct opensm *o, const char *path)
{
	for (size_t i = 0; i < o->told[OPENSM_HINT].n; i++) {
		struct fm_error at;

		place(path, &o->told[OPENSM_HINT].item[i], &at);
		log_warn("conf", "%s", at.msg);
	}
}

static void
tell_absent(const struct opensm *o, const char *path)
{
	for (size_t i = 0; i < o->told[OPENSM_ABSENT].n; i++) {
		struct fm_error at;

		place(path, &o->told[OPENSM_ABSENT].item[i], &at);
		log_notice("conf", "%s", at.msg);
	}
}

static void
tell_remarks(struct told *told, const struct opensm_remark *list, size_t n, const char *path)
{
	struct fm_error one;

	for (size_t i = 0; i < n; i++) {
		place(path, &list[i], &one);
		note_mistake(told, list[i].line, &one);
	}
}

/* What the lines come to into self; on the command line a key without a counterpart is a
 * mistake. */
static int
apply_settings(struct conf_private *self, struct opensm *o, const char *path, struct fm_error *err)
{
	struct told told = { .mem = &self->mem, .out_of_memory = o->out_of_memory };
	struct fm_error one;
	int rc;

	tell_remarks(&told, o->told[OPENSM_BAD].item, o->told[OPENSM_BAD].n, path);
	if (path == NULL)
		tell_remarks(&told, o->told[OPENSM_STRAY].item, o->told[OPENSM_STRAY].n, path);
	for (size_t i = 0; i < o->settings.n; i++) {
		rc = apply(self, &o->settings.item[i], path, &one);
		if (rc == FM_E_CONFIG)
			note_mistake(&told, o->settings.item[i].from->line, &one);
		else if (rc != 0)
			told.out_of_memory = true;
	}
	if (path != NULL)
		warn_strays(o, path);
	warn_hints(o, path);
	tell_absent(o, path);
	return told_end(self, &told, err);
}

/* ----------------------------------------------------------------- sources */

/* The engines that the command line names, "a, b", or NULL. */
static const char *
firm_chain(const struct conf_source *source, struct fm_arena *mem)
{
	for (size_t i = source->n_overrides; i-- > 0;)
		if (strcmp(source->overrides[i].key, "chain") == 0)
			return conf_join_words(
			    mem, source->overrides[i].items, source->overrides[i].n_items);
	for (size_t i = source->n_opensm; i-- > 0;)
		if (strcmp(source->opensm[i].key, "routing_engine") == 0)
			return source->opensm[i].value;
	return NULL;
}

static int
refuse_nul(const char *path, const char *text, size_t n, struct fm_error *err)
{
	const char *nul = memchr(text, '\0', n);
	unsigned line = 1;

	for (const char *p = text; nul != NULL && p < nul; p++)
		line += *p == '\n';
	return nul == NULL ? 0 : conf_fail_at(err, path, line, "a NUL byte: this is no text file");
}

int
conf_parse_opensm(struct conf_private *self, const struct conf_source *source, const char *path,
    const char *text, size_t n, struct fm_error *err)
{
	struct opensm_chain chains = { firm_chain(source, &self->mem), conf_default_chain() };
	struct opensm o;
	int rc;

	if (self->peeks) /* nothing of where engines run stands there */
		return 0;
	if ((rc = refuse_nul(path, text, n, err)) != 0)
		return rc;
	opensm_init(&o, &self->mem, self->engines);
	opensm_read(&o, text, n);
	opensm_translate(&o, &chains, true);
	rc = apply_settings(self, &o, path, err);
	opensm_fini(&o);
	return rc;
}

int
conf_take_opensm_options(
    struct conf_private *self, const struct conf_source *source, struct fm_error *err)
{
	const char *written = option_values_text(self->own, "chain");
	struct opensm_chain chains = { firm_chain(source, &self->mem),
		written != NULL ? written : conf_default_chain() };
	struct opensm o;
	int rc;

	if (self->peeks || source->n_opensm == 0)
		return 0;
	opensm_init(&o, &self->mem, self->engines);
	for (size_t i = 0; i < source->n_opensm; i++)
		opensm_say(
		    &o, source->opensm[i].said, source->opensm[i].key, source->opensm[i].value);
	opensm_translate(&o, &chains, false);
	rc = apply_settings(self, &o, NULL, err);
	opensm_fini(&o);
	return rc;
}
