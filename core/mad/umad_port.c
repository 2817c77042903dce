/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/mad/umad_port.c - find the local InfiniBand port to work on.
 *
 * libibumad reads sysfs.  A port is better the nearer it is to carrying
 * traffic; Ethernet ports of the same adapters do not count.
 */
#include "config.h"

#include "core/mad/umad_port.h"

#include <endian.h>
#include <errno.h>
#include <infiniband/umad.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text/number.h"
#include "core/wire/wire.h"

#define MAX_CAS 32
#define MAX_PORT 254

static int
bad_spec(const char *spec, struct fm_error *err)
{
	return fm_fail(err, FM_E_CONFIG,
	    "\"%s\" is no transport: it is umad[:CA[:PORT]], such as umad:mlx5_0:1, or "
	    "umad:0xPORTGUID",
	    spec);
}

int
umad_parse_spec(const char *spec, struct umad_choice *c, struct fm_error *err)
{
	const char *ca = strchr(spec, ':'), *port;
	size_t n_ca;
	char *end;
	long n;

	*c = (struct umad_choice){ 0 };
	if (ca == NULL || ca[1] == '\0')
		return 0;
	ca++;
	if (strncmp(ca, "0x", 2) == 0)
		return number_parse(ca, &c->port_guid) && c->port_guid != 0 ? 0
									    : bad_spec(spec, err);
	port = strchr(ca, ':');
	n_ca = port ? (size_t)(port - ca) : strlen(ca);
	if (n_ca == 0 || n_ca >= UMAD_CA_NAME_LEN)
		return bad_spec(spec, err);
	memcpy(c->ca, ca, n_ca);
	if (port == NULL)
		return 0;
	n = strtol(port + 1, &end, 10);
	if (end == port + 1 || *end != '\0' || n < 0 || n > MAX_PORT)
		return bad_spec(spec, err);
	c->port = (int)n;
	return 0;
}

enum rank { NO_PORT, PORT_WITHOUT_LINK, PORT_TRAINED, PORT_UP, PORT_ACTIVE };

static enum rank
rank_of(const umad_port_t *p)
{
	if (strcmp(p->link_layer, "Ethernet") == 0)
		return NO_PORT;
	if (p->state == WIRE_PORT_ACTIVE)
		return PORT_ACTIVE;
	if (p->state == WIRE_PORT_INIT || p->state == WIRE_PORT_ARMED)
		return PORT_UP;
	return p->phys_state == WIRE_PHYS_LINK_UP ? PORT_TRAINED : PORT_WITHOUT_LINK;
}

/* The best so far, and how many InfiniBand ports there are, up or not. */
static void
choose_in_ca(const umad_ca_t *ca, struct umad_choice *best, int *best_rank, int *n_ports)
{
	for (int i = 0; i < UMAD_CA_MAX_PORTS; i++) {
		int rank = ca->ports[i] ? rank_of(ca->ports[i]) : NO_PORT;

		*n_ports += rank != NO_PORT;
		if (rank <= *best_rank)
			continue;
		*best_rank = rank;
		snprintf(best->ca, sizeof(best->ca), "%s", ca->ca_name);
		best->port = ca->ports[i]->portnum;
	}
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

static bool
find_in_ca(const umad_ca_t *ca, struct umad_choice *c)
{
	for (int i = 0; i < UMAD_CA_MAX_PORTS; i++) {
		const umad_port_t *p = ca->ports[i];

		if (p == NULL || be64toh(p->port_guid) != c->port_guid)
			continue;
		snprintf(c->ca, sizeof(c->ca), "%s", ca->ca_name);
		c->port = p->portnum;
		return true;
	}
	return false;
}

/* Up or not: it is the one that is wanted. */
static int
find_guid(struct umad_choice *c, struct fm_error *err)
{
	char names[MAX_CAS][UMAD_CA_NAME_LEN];
	int n = umad_get_cas_names(names, MAX_CAS);
	bool found = false;

	for (int i = 0; i < n && !found; i++) {
		umad_ca_t ca;

		if (umad_get_ca(names[i], &ca) < 0)
			continue;
		found = find_in_ca(&ca, c);
		umad_release_ca(&ca);
	}
	return found ? 0
		     : fm_fail(err, FM_E_SYSTEM,
			   "no port of this host has the GUID 0x%016" PRIx64
			   " (ibstat -p lists those that it has)",
			   c->port_guid);
}

/* libibumad names one, mthca0, also where there is none. */
static bool
has_any_ca(void)
{
	char names[MAX_CAS][UMAD_CA_NAME_LEN];
	int n = umad_get_cas_names(names, MAX_CAS);
	umad_ca_t ca;

	if (n <= 0 || umad_get_ca(names[0], &ca) < 0)
		return false;
	umad_release_ca(&ca);
	return true;
}

static int
check_ca(const struct umad_choice *c, struct fm_error *err)
{
	umad_ca_t ca;
	bool found;

	if (umad_get_ca(c->ca, &ca) < 0)
		return fm_fail(err, FM_E_CONFIG,
		    "this host has no adapter %.40s (ibstat -l lists those that it has)", c->ca);
	found = c->port == 0 || (c->port < UMAD_CA_MAX_PORTS && ca.ports[c->port] != NULL);
	umad_release_ca(&ca);
	return found ? 0
		     : fm_fail(err, FM_E_CONFIG,
			   "the adapter %.40s has no port %d (ibstat %.40s lists those that it "
			   "has)",
			   c->ca, c->port, c->ca);
}

int
umad_check_spec(const char *spec, bool *is_told, struct fm_error *err)
{
	struct umad_choice c;
	int rc = umad_parse_spec(spec, &c, err);

	*is_told = rc != 0 || has_any_ca();
	if (rc == 0 && *is_told && c.port_guid != 0 && find_guid(&c, err) != 0)
		return err->kind = FM_E_CONFIG;
	return rc == 0 && *is_told && *c.ca != '\0' && c.port_guid == 0 ? check_ca(&c, err) : rc;
}

int
umad_choose_port(struct umad_choice *c, struct fm_error *err)
{
	char names[MAX_CAS][UMAD_CA_NAME_LEN];
	struct umad_choice best = { 0 };
	int n = umad_get_cas_names(names, MAX_CAS), rank = NO_PORT, n_seen = 0, n_ports = 0;

	if (c->port_guid != 0)
		return find_guid(c, err);
	if (c->port != 0)
		return 0;
	if (n <= 0 || !has_any_ca())
		return fm_fail(err, FM_E_SYSTEM,
		    "no InfiniBand adapter is known to the kernel (is ib_umad loaded?)");
	qsort(names, (size_t)n, sizeof(names[0]), compare_names);
	for (int i = 0; i < n; i++) {
		umad_ca_t ca;

		if ((c->ca[0] != '\0' && strcmp(c->ca, names[i]) != 0) ||
		    umad_get_ca(names[i], &ca) < 0)
			continue;
		n_seen++;
		choose_in_ca(&ca, &best, &rank, &n_ports);
		umad_release_ca(&ca);
	}
	/* exit code 1 all the same: when a machine starts it may be there a moment later */
	if (n_seen == 0 && c->ca[0] != '\0')
		return fm_fail(err, FM_E_SYSTEM, "there is no adapter %s", c->ca);
	if (rank == NO_PORT)
		return fm_fail(err, FM_E_SYSTEM, "there is no InfiniBand port%s%s",
		    c->ca[0] ? " of " : "", c->ca);
	if (rank == PORT_WITHOUT_LINK && n_ports > 1) /* which of them will have one? */
		return fm_fail(err, FM_E_SYSTEM,
		    "none of the %d InfiniBand ports%s%s has a link: plug a cable in, or name the "
		    "port "
		    "(such as transport = umad:mlx5_0:1), and fmd waits for its link",
		    n_ports, c->ca[0] ? " of " : "", c->ca);
	*c = best;
	return 0;
}

static void
fill_local(struct local_port *out, const umad_ca_t *ca, const umad_port_t *p)
{
	*out = (struct local_port){
		.node_guid = be64toh(ca->node_guid),
		.system_guid = be64toh(ca->system_guid),
		.port_guid = be64toh(p->port_guid),
		.node_type = (uint8_t)ca->node_type,
		.port = (uint8_t)p->portnum,
		.lid = (uint16_t)p->base_lid,
		.sm_lid = (uint16_t)p->sm_lid,
		.state = (uint8_t)p->state,
	};
	snprintf(out->name, sizeof(out->name), "%s port %d", ca->ca_name, p->portnum);
}

int
umad_read_port(const struct umad_choice *c, struct local_port *out, struct fm_error *err)
{
	umad_ca_t ca;
	umad_port_t p;

	if (umad_get_ca(c->ca, &ca) < 0)
		return fm_fail(err, FM_E_SYSTEM, "there is no adapter %s", c->ca);
	if (umad_get_port(c->ca, c->port, &p) < 0) {
		umad_release_ca(&ca);
		return fm_fail(err, FM_E_SYSTEM, "adapter %s has no port %d", c->ca, c->port);
	}
	fill_local(out, &ca, &p);
	umad_release_port(&p);
	umad_release_ca(&ca);
	return 0;
}
