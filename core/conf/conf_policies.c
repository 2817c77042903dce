/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/conf/conf_policies.c - from the files of partitions and QoS to what they
 * say.  A mistake in one of them is one of the configuration: it is told with
 * file and line, and the configuration that holds goes on holding.
 */
#include "core/conf/conf_private.h"
#include "core/subnet/partitions.h"

static int
resolve_partitions(struct conf *conf, struct fm_error *err)
{
	const struct fm_file *f = &conf->partition_config_file;
	struct part_options o = { .both_keys = conf->allow_both_pkeys };

	return f->path == NULL
	    ? partitions_default(&o, &conf->partitions, err)
	    : partitions_parse(f->path, f->bytes, f->n_bytes, &o, &conf->partitions, err);
}

int
conf_resolve_policies(struct conf_private *self, struct fm_error *err)
{
	return resolve_partitions(self->conf, err);
}

void
conf_drop_policies(struct conf *conf)
{
	partitions_put(conf->partitions);
}
