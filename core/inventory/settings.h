/* SPDX-License-Identifier: BSD-2-Clause */
/* core/inventory/settings.h - what the administrator wants of the subnet. */
#ifndef CORE_INVENTORY_SETTINGS_H
#define CORE_INVENTORY_SETTINGS_H

#include "core/conf/parts.h"
#include "core/engine/router.h"

struct isolated;

/* What the administrator wants of the subnet, by parts of the configuration; what they point to is
 * borrowed. */
struct sweep_settings {
	struct conf_addresses addresses;
	struct conf_m_key m_key;
	struct conf_sm sm;
	struct conf_ports ports;
	struct conf_partitions partitions; /* all may be NULL: all may talk to all */
	struct conf_congestion congestion;
	struct conf_ar adaptive;
	struct conf_sweep sweep;
	struct conf_transition transition;
	struct route_settings routing;
	const struct name_map *names;	 /* borrowed; NULL: nodes are called by what they say */
	const struct qos *qos;		 /* borrowed; NULL: the engine alone says which VLs */
	const struct isolated *isolated; /* borrowed; NULL: no cable is (isolated.h) */
	int64_t own_port_ms;		 /* our own port is looked at so often; 0: never */
	bool dry_run;			 /* no Set at all */
	bool careless;			 /* tests: forwarding tables are written in any order */
};
void sweep_settings_default(struct sweep_settings *s);
/* Stands for the settings of rows that ride along (fields.h): never 0. */
uint64_t sweep_settings_fingerprint(const struct sweep_settings *set);

#endif
