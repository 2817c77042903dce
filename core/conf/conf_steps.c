/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The chain entry `chains`: MLNX_OFED's policy files to steps with engines and
 * options.  The files are read once, however often the word stands in chains, and
 * once for their mistakes where it stands in none.
 */
#include <inttypes.h>
#include <string.h>

#include "core/conf/conf_private.h"
#include "core/engine/auto.h"
#include "core/overlay/overlay.h"
#include "core/overlay/rchain.h"
#include "core/overlay/rchain_config.h"
#include "lib/error.h"
#include "lib/hash.h"
#include "lib/log.h"

static int
resolve_step(struct conf_private *self, const struct rchain_step *from, struct overlay_step *to,
    struct fm_error *err)
{
	const char *path = self->rchain->path;
	int rc = FM_E_CONFIG;

	*to = (struct overlay_step){ .id = from->id,
		.topology = from->topology,
		.fallback_to = from->fallback_to,
		.path_bit = from->path_bit };
	if (strcmp(from->engine, auto_engine.name) == 0 ||
	    strcmp(from->engine, chains_engine.name) == 0)
		fm_fail(err, FM_E_CONFIG, "%s is no engine: a step has one", from->engine);
	else
		rc = conf_resolve_entry(self, from->engine, &to->entry, err);
	if (rc != 0)
		return fm_context(err, "%s:%u: step %" PRIu32, path, from->line, from->id);
	if (from->config == NULL)
		return 0;
	rc = rchain_config_read(from->config, path, to->entry.engine, to->entry.values, &self->mem,
	    &to->entry.values, err);
	return rc == 0 ? 0 : fm_context(err, "%s:%u: config", path, from->config_line);
}

/* The highest path bit that ports have: a step beyond it routes nothing. */
static int
check_path_bits(const struct conf_private *self, struct fm_error *err)
{
	const struct rchain *rc = self->rchain;

	for (size_t i = 0; i < rc->steps.n; i++)
		if (rc->steps.item[i].path_bit >= 1 << self->conf->addresses.lmc)
			return fm_fail(err, FM_E_CONFIG,
			    "%s:%u: step %" PRIu32 ": path-bit %u needs lmc = %d, it is %" PRId64,
			    rc->path, rc->steps.item[i].line, rc->steps.item[i].id,
			    rc->steps.item[i].path_bit,
			    32 - __builtin_clz(rc->steps.item[i].path_bit),
			    self->conf->addresses.lmc);
	return 0;
}

static int
read_files(struct conf_private *self, struct fm_error *err)
{
	const struct rchain_files files = { self->conf->routing.pgrp_policy,
		self->conf->routing.topo_policy, self->conf->routing.rch_policy };

	self->rchain = fm_arena_alloc(&self->mem, sizeof(*self->rchain));
	if (self->rchain == NULL)
		return conf_out_of_memory(err);
	return rchain_read(self->rchain, &files, &self->mem, self->all, err);
}

static int
resolve_all(struct conf_private *self, struct overlay_step **out, struct fm_error *err)
{
	size_t n = self->rchain->steps.n;
	struct overlay_step *steps = fm_arena_array(&self->mem, n + 1, struct overlay_step);
	int rc = 0;

	if (steps == NULL)
		return conf_out_of_memory(err);
	for (size_t i = 0; i < n && rc == 0; i++)
		if (resolve_step(self, &self->rchain->steps.item[i], &steps[i], err) != 0)
			rc = conf_note(self, err);
	*out = steps;
	return rc;
}

int
conf_resolve_steps(struct conf_private *self, struct chain_entry *entry, struct fm_error *err)
{
	struct overlay *overlay = fm_arena_alloc(&self->mem, sizeof(*overlay));
	struct overlay_step *steps;
	int rc;

	if (overlay == NULL)
		return conf_out_of_memory(err);
	if (self->conf->routing.rch_policy.path == NULL)
		return fm_fail(err, FM_E_CONFIG, "chains: there are no steps: rch_policy_file");
	if (self->rchain == NULL && (rc = read_files(self, err)) != 0)
		return rc;
	if ((rc = check_path_bits(self, err)) != 0 || (rc = resolve_all(self, &steps, err)) != 0)
		return rc;
	*overlay = (struct overlay){ self->rchain, steps, (uint32_t)self->rchain->steps.n };
	*entry = (struct chain_entry){
		.engine = &chains_engine, .name = chains_engine.name, .overlay = overlay
	};
	return 0;
}

int
conf_check_steps(struct conf_private *self, struct fm_error *err)
{
	const struct fm_file *files[] = { &self->conf->routing.rch_policy,
		&self->conf->routing.topo_policy, &self->conf->routing.pgrp_policy };
	struct overlay_step *steps;
	int rc;

	if (self->rchain != NULL)
		return 0;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		if (files[i]->path == NULL)
			continue;
		log_warn("conf", "%s is read, but not used: chains is in no chain", files[i]->path);
		rc = read_files(self, err);
		return rc != 0 ? rc : resolve_all(self, &steps, err);
	}
	return 0;
}

uint64_t
conf_mark_steps(const struct conf_routing *r, const struct overlay *overlay)
{
	const struct fm_file *files[] = { &r->pgrp_policy, &r->topo_policy, &r->rch_policy };
	uint64_t h = 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (files[i]->bytes != NULL)
			h = fm_hash_bytes(h + i, files[i]->bytes, files[i]->n_bytes);
	for (uint32_t i = 0; i < overlay->n_steps; i++)
		h = fm_mix64(h ^ option_values_mark(overlay->steps[i].entry.values));
	return h;
}
