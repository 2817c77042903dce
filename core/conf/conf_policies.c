/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/conf/conf_policies.c - from the files of partitions, QoS, LIDs and routes to
 * other subnets to what they say.  A mistake in one of them is one of the
 * configuration: it is told with file and line, and the configuration that holds
 * goes on holding.
 */
#include <stdio.h>
#include <string.h>

#include "core/conf/conf_private.h"
#include "core/netlist/netlist.h"
#include "core/nodes/name_map.h"
#include "core/subnet/guid2lid.h"
#include "core/subnet/partitions.h"
#include "core/subnet/prefix_routes.h"
#include "core/subnet/qos_policy.h"
#include "lib/log.h"
#include "lib/vec.h"

static int
resolve_partitions(struct conf_private *self, struct fm_error *err)
{
	struct conf_partitions *p = &self->conf->partitions;
	const struct fm_file *f = &p->file;
	struct part_more *more = fm_arena_array(&self->mem, p->vfabrics.n + 1, struct part_more);
	struct part_options o = { .more = more,
		.n_more = p->vfabrics.n,
		.both_keys = p->allow_both,
		.qos = self->conf->qos.enable };

	if (more == NULL)
		return conf_out_of_memory(err);
	for (size_t i = 0; i < p->vfabrics.n; i++)
		more[i] = vfabric_part(&p->vfabrics.of[i]);
	return f->path == NULL
	    ? partitions_default(&o, &p->all, self->all, err)
	    : partitions_parse(f->path, f->bytes, f->n_bytes, &o, &p->all, self->all, err);
}

/* "sl2vl: sentence" with the place where that key was written. */
static int
place_error(const struct conf_private *self, const char *prefix, struct fm_error *err)
{
	char sentence[sizeof(err->msg)], key[40];
	const struct option_origin *at;
	int n = (int)strcspn(err->msg, ":");

	if (err->msg[n] == '\0' || err->kind != FM_E_CONFIG)
		return (int)err->kind;
	snprintf(sentence, sizeof(sentence), "%s", err->msg);
	snprintf(key, sizeof(key), "%s%.*s", prefix, n, sentence);
	at = option_values_origin(self->own, key);
	if (at == NULL) {
		snprintf(key, sizeof(key), "qos_%.*s", n, sentence);
		at = option_values_origin(self->own, key);
	}
	if (at == NULL || at->file == NULL)
		return fm_fail(err, FM_E_CONFIG, "%s%s", key, sentence + n);
	return fm_fail(
	    err, FM_E_CONFIG, "%.100s:%u: %s%.100s", at->file, at->line, key, sentence + n);
}

static const char *const prefix[QOS_PORTS + 1] = { [QOS_CA] = "qos_ca_",
	[QOS_ROUTER] = "qos_rtr_",
	[QOS_SWITCH0] = "qos_sw0_",
	[QOS_SWITCH] = "qos_swe_",
	[QOS_COMMON] = "qos_" };

/* Shares of vfabrics are SL2VL and weights; a key that says these, too, is a second word for it. */
static int
join_shares(struct conf_private *self, struct qos *q, struct fm_error *err)
{
	static const char *const words[] = { "sl2vl", "vlarb_high", "vlarb_low" };
	const struct vfabrics *v = &self->conf->partitions.vfabrics;

	for (unsigned i = 0; v->weighs && i < (QOS_PORTS + 1) * 3; i++) {
		const struct option_origin *at;
		char key[40];

		snprintf(key, sizeof(key), "%s%s", prefix[i / 3], words[i % 3]);
		at = option_values_origin(self->own, key);
		if (at != NULL &&
		    conf_note_own(self, key,
			fm_fail(err, FM_E_CONFIG,
			    "vfabrics have shares, which say SL2VL and weights: leave this out, or "
			    "share and high_priority"),
			err) != 0)
			return (int)err->kind;
	}
	for (unsigned k = 0; k < QOS_PORTS; k++)
		vfabrics_qos(v, &q->port[k]);
	return 0;
}

/* On ports with fewer VLs than SLs have shares some SLs have one VL together. */
static void
warn_of_few_vls(const struct conf *conf)
{
	const struct vfabrics *v = &conf->partitions.vfabrics;
	unsigned n = 0, vls = wire_data_vls(conf_op_vls(&conf->ports));

	for (unsigned sl = 0; sl < VFABRIC_SLS; sl++)
		n += v->sl[sl].used;
	for (unsigned k = 0; k < QOS_PORTS; k++)
		vls = conf->qos.tables->port[k].max_vls < vls ? conf->qos.tables->port[k].max_vls
							      : vls;
	if (v->weighs && n > vls)
		log_warn("conf",
		    "vfabrics have %u SLs with shares, but ports run %u VLs at most (max_op_vls, "
		    "qos_max_vls): some SLs have one VL and its weight together",
		    n, vls);
}

static int
resolve_qos(struct conf_private *self, struct fm_error *err)
{
	struct conf *conf = self->conf;
	struct qos *q = fm_arena_array(&self->mem, 1, struct qos);

	if (q == NULL)
		return conf_out_of_memory(err);
	q->optimised_sl2vl = conf->qos.use_optimized_slvl;
	for (unsigned k = 0; k < QOS_PORTS; k++)
		if (qos_tables_parse(
			&conf->qos.text[k], &conf->qos.text[QOS_COMMON], &q->port[k], err) != 0 &&
		    (place_error(self, prefix[k], err), conf_note(self, err)) != 0)
			return (int)err->kind;
	if (join_shares(self, q, err) != 0)
		return (int)err->kind;
	conf->qos.tables = conf->qos.enable ? q : NULL;
	if (conf->qos.enable)
		warn_of_few_vls(conf);
	return 0;
}

/* A rule by P_Key goes before the SL that partitions.conf gives. */
static int
join_partitions(struct conf_private *self, const struct qos_policy *policy, struct fm_error *err)
{
	const struct partitions *all = self->conf->partitions.all;
	const struct partition *list;
	size_t n;
	int rc = 0;

	list = partitions_list(all, &n);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		uint8_t sl;

		if (!qos_policy_partition_sl(policy, list[i].pkey, &sl) || sl == list[i].sl)
			continue;
		if (list[i].sl_is_firm) {
			rc = conf_note_own(self, "qos_policy_file",
			    fm_fail(err, FM_E_CONFIG,
				"it gives P_Key 0x%04x SL %u, and vfabric %s SL %u: leave it out "
				"in one of them",
				list[i].pkey, sl, list[i].name, list[i].sl),
			    err);
			continue;
		}
		log_info("conf",
		    "partition 0x%04x has SL %u by the QoS policy, which goes before SL %u of the "
		    "partition",
		    list[i].pkey, sl, list[i].sl);
		partitions_set_sl(all, list[i].pkey, sl);
	}
	return rc;
}

/* Without QoS a policy is read, for its mistakes, and not used. */
static int
resolve_policy(struct conf_private *self, struct fm_error *err)
{
	struct conf *conf = self->conf;
	const struct fm_file *f = &conf->qos.policy_file;
	const struct qos_policy *p;
	int rc;

	if (f->path == NULL)
		return 0;
	rc = qos_policy_parse(
	    f->path, f->bytes, f->n_bytes, conf->partitions.all, &p, self->all, err);
	if (rc != 0 || p == NULL)
		return rc;
	if (!conf->qos.enable) {
		log_warn("conf", "qos_policy_file is given, but not used: qos = no");
		qos_policy_put(p);
		return 0;
	}
	conf->qos.policy = p;
	return join_partitions(self, p, err);
}

static int
resolve_routes(struct conf_private *self, struct fm_error *err)
{
	struct conf_sa *sa = &self->conf->sa;
	const struct fm_file *f = &sa->prefix_routes;

	return f->path == NULL
	    ? 0
	    : prefix_routes_parse(f->path, f->bytes, f->n_bytes, &sa->routes, self->all, err);
}

/* For its mistakes; the store takes it when fmd starts. */
static int
check_guid2lid(struct conf_private *self, struct fm_error *err)
{
	const struct fm_file *f = &self->conf->addresses.guid2lid;
	struct guid2lid g = { 0 };
	int rc =
	    f->path == NULL ? 0 : guid2lid_parse(f->path, f->bytes, f->n_bytes, &g, self->all, err);

	guid2lid_fini(&g);
	return rc;
}

static int
resolve_port_keys(struct conf_private *self, struct fm_error *err)
{
	struct conf_m_key *k = &self->conf->m_key;
	const struct fm_file *f = &k->guid2mkey;

	return f->path == NULL
	    ? 0
	    : guid2mkey_parse(f->path, f->bytes, f->n_bytes, &k->of_ports, self->all, err);
}

static int
resolve_names(struct conf_private *self, struct fm_error *err)
{
	struct conf_names *n = &self->conf->names;
	const struct fm_file *f = &n->file;

	return f->path == NULL ? 0 : name_map_parse(f->path, f->bytes, f->n_bytes, &n->map, err);
}

static int
resolve_cabling(struct conf_private *self, struct fm_error *err)
{
	struct conf_cabling *c = &self->conf->cabling;
	const struct fm_file *f = &c->file;
	int rc;

	if (f->path == NULL)
		return 0;
	c->wanted = calloc(1, sizeof(*c->wanted));
	if (c->wanted == NULL)
		return conf_out_of_memory(err);
	rc = netlist_parse(f->path, f->bytes, f->n_bytes, c->wanted, err);
	if (rc == 0)
		return 0;
	free(c->wanted); /* nothing is in it */
	c->wanted = NULL;
	return rc;
}

/* Each mistake is told at the key that has it. */
static int
resolve_congestion(struct conf_private *self, struct fm_error *err)
{
	struct conf_congestion *c = &self->conf->congestion;
	int rc = 0;
	bool ok = true;

	for (unsigned w = 0; rc == 0 && w < CONGESTION_WORDS; w++) {
		int bad = congestion_check(&c->text, w, err);

		ok = ok && bad == 0;
		rc = conf_note_own(self, congestion_key(w), bad, err);
	}
	if (rc == 0 && ok)
		congestion_make(&c->text, &c->blocks);
	return rc;
}

int
conf_resolve_policies(struct conf_private *self, struct fm_error *err)
{
	static int (*const files[])(struct conf_private *, struct fm_error *) = {
		resolve_partitions, check_guid2lid, resolve_port_keys, resolve_names,
		resolve_cabling, resolve_routes, resolve_qos, resolve_policy, resolve_congestion
	};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(files) / sizeof(*files); i++)
		if (files[i](self, err) != 0)
			rc = conf_note(self, err);
	return rc;
}

void
conf_drop_policies(struct conf *conf)
{
	partitions_put(conf->partitions.all);
	qos_policy_put(conf->qos.policy);
	guid2mkey_fini(&conf->m_key.of_ports);
	name_map_free(conf->names.map);
	if (conf->cabling.wanted != NULL)
		netlist_fini(conf->cabling.wanted);
	free(conf->cabling.wanted);
	fm_vec_fini(&conf->sa.routes);
}
