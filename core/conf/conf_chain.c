/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A chain as it is written to entries: "fattree:pods, updn".  O(letters + engines) each.
 */
#include "config.h"

#include <string.h>

#include "core/abi/options.h"
#include "core/conf/conf_private.h"
#include "core/engine/auto.h"
#include "core/overlay/overlay.h"
#include "lib/error.h"
#include "lib/hash.h"

/* The entries whose tables are compared with those of a step of `auto`: what is installed. */
static int
resolve_rivals(struct conf_private *self, const struct auto_step *step, struct chain_entry *out,
    struct fm_error *err)
{
	struct chain_rival *rivals = fm_arena_array(&self->mem, AUTO_RIVALS, struct chain_rival);
	int rc = 0;

	if (rivals == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the chain of engines");
	out->rival = rivals;
	for (unsigned i = 0; rc == 0 && step->rivals != NULL && i < AUTO_RIVALS; i++) {
		const struct auto_rival *r = &step->rivals[i];
		struct chain_rival *one = &rivals[out->n_rivals];

		if (r->engine == NULL || engine_find(self->engines, r->engine) == NULL)
			continue;
		rc = conf_resolve_entry(self, r->engine, &one->entry, err);
		one->entry.because = r->because;
		one->most = r->most;
		out->n_rivals++;
	}
	return rc;
}

/* An entry for each engine that `auto` may take and that is installed. */
static int
resolve_auto(
    struct conf_private *self, struct chain_entry *entries, uint32_t *n, struct fm_error *err)
{
	for (uint32_t i = 0; i < AUTO_N_STEPS; i++) {
		int rc;

		if (engine_find(self->engines, auto_steps[i].engine) == NULL)
			continue;
		rc = conf_resolve_entry(self, auto_steps[i].engine, &entries[*n], err);
		if (rc == 0)
			rc = resolve_rivals(self, &auto_steps[i], &entries[*n], err);
		if (rc != 0)
			return rc;
		entries[(*n)++].because = auto_steps[i].because;
	}
	return 0;
}

/* Another file of an engine that is not fmd's own is another engine. */
static uint64_t
file_mark(const struct conf_private *self, const struct fm_engine *engine)
{
	const struct engine_file *file =
	    engine != NULL ? engine_file_of(self->engines, engine) : NULL;

	return file != NULL ? file->mark : 0;
}

/* A chain alone: all that its tables depend on besides the fabric. */
static uint64_t
chain_mark(const struct conf_private *self, const struct chain *chain)
{
	const struct conf_routing *r = &self->conf->routing;
	const struct conf_ar *ar = &self->conf->ar;
	const int64_t numbers[] = { r->fallback, r->credit_loops, r->n_vls, r->sl_model,
		ar->enable ? ar->max_groups : 0, FM_ABI_MAJOR, FM_ABI_MINOR };
	uint64_t h = fm_hash_bytes(0, numbers, sizeof(numbers));

	h = fm_hash_bytes(h, PACKAGE_VERSION, sizeof(PACKAGE_VERSION));
	for (uint32_t i = 0; i < chain->n_entries; i++) {
		const struct chain_entry *e = &chain->entries[i];

		h = fm_hash_bytes(h, e->name, strlen(e->name));
		h = fm_mix64(h ^ option_values_mark(e->values) ^ file_mark(self, e->engine));
		if (e->overlay != NULL)
			h = fm_mix64(h ^ conf_mark_steps(r, e->overlay));
	}
	return h;
}

static int
resolve_word(struct conf_private *self, const char *word, struct chain_entry *entries, uint32_t *n,
    struct fm_error *err)
{
	int rc;

	if (strcmp(word, auto_engine.name) == 0)
		return resolve_auto(self, entries, n, err);
	if (strcmp(word, chains_engine.name) == 0)
		rc = conf_resolve_steps(self, &entries[*n], err);
	else
		rc = conf_resolve_entry(self, word, &entries[*n], err);
	*n += rc == 0;
	return rc;
}

int
conf_resolve_chain(struct conf_private *self, const char *text, bool written, const char *where,
    struct chain *chain, struct fm_error *err)
{
	size_t before = mistakes_count(self->all);
	const struct conf_routing *r = &self->conf->routing;
	struct chain_entry *entries =
	    fm_arena_array(&self->mem, strlen(text) * 2 + AUTO_N_STEPS, struct chain_entry);
	uint32_t n = 0;
	char *word;

	if (entries == NULL)
		return conf_out_of_memory(err);
	while ((word = conf_next_word(&self->mem, &text)) != NULL) {
		if (!written && engine_find(self->engines, word) == NULL)
			continue;
		if (resolve_word(self, word, entries, &n, err) == 0)
			continue;
		fm_context(err, "%s", where);
		if (conf_note(self, err) != 0)
			return (int)err->kind;
	}
	if (n == 0 && !r->fallback && mistakes_count(self->all) == before)
		return fm_fail(err, FM_E_CONFIG,
		    "%s: no engine is left: name one, or set fallback = yes", where);
	*chain = (struct chain){ .entries = entries,
		.n_entries = n,
		.fallback = r->fallback,
		.allow_credit_loops = r->credit_loops == CONF_CREDIT_LOOPS_WARN };
	chain->mark = chain_mark(self, chain);
	return 0;
}
