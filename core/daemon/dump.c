/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing tables in the formats of OpenSM, infiniband-diags and ibutils.
 * Hops are counted by walking the tables; "optimal" compares with a breadth
 * first search from each destination switch.
 *
 * A snapshot does not know the port numbers of CAs: subnet.lst numbers the
 * ports of a node in the order of their GUIDs.
 */
#include "core/daemon/dump.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/graph/link_speed.h"
#include "core/graph/tables.h"
#include "core/mcast/mft_rows.h"
#include "core/text/files.h"
#include "lib/error.h"

#define N_SLS 16
#define UNREACHED 255

/* A host and its place in the order of the tables. */
struct placed {
	uint32_t place;
	fm_end end;
};

struct dump {
	const struct snapshot *snap;
	const struct fm_fabric *fab; /* of snap */
	const struct fm_tables *t;
	const struct mft_rows *mfts; /* NULL: none */
	struct fm_arena mem;
	fm_end *port_end;      /* [ports of all switches] end behind a port, FM_NONE */
	uint8_t *distance;     /* [n_switches to][n_switches from] links, 255 = none */
	uint8_t *end_number;   /* [n_ends] port number in its node, from 1 */
	uint8_t *end_ports;    /* [n_ends] ports its node shows */
	struct placed *placed; /* [n_ends] scratch */
};

/* ------------------------------------------------------------ preparations */

static void
index_ports(struct dump *d)
{
	const struct fm_fabric *fab = d->fab;

	memset(d->port_end, 0xff, d->snap->sw_first_port[fab->n_switches] * sizeof(*d->port_end));
	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++)
			d->port_end[d->snap->sw_first_port[sw] + fab->end_port[e]] = e;
}

static fm_end
end_at(const struct dump *d, fm_sw sw, uint8_t port)
{
	return port <= d->fab->sw_n_ports[sw] ? d->port_end[d->snap->sw_first_port[sw] + port]
					      : FM_NONE;
}

static void
search(struct dump *d, fm_sw from, fm_sw *queue)
{
	const struct fm_fabric *fab = d->fab;
	uint8_t *dist = d->distance + (size_t)from * fab->n_switches;
	uint32_t head = 0, tail = 0;

	memset(dist, UNREACHED, fab->n_switches);
	dist[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		fm_sw sw = queue[head++];

		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
			if (dist[fab->link_to[l]] == UNREACHED && dist[sw] + 1 < UNREACHED) {
				dist[fab->link_to[l]] = (uint8_t)(dist[sw] + 1);
				queue[tail++] = fab->link_to[l];
			}
	}
}

struct node_port {
	uint64_t node, guid;
	fm_end end;
};

static int
by_node(const void *a, const void *b)
{
	const struct node_port *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

static bool
number_end_ports(struct dump *d)
{
	uint32_t n = d->fab->n_ends;
	struct node_port *ports = fm_arena_array(&d->mem, (size_t)n + 1, struct node_port);

	if (ports == NULL)
		return false;
	for (fm_end e = 0; e < n; e++)
		ports[e] = (struct node_port){ d->fab->end_node_guid[e], d->fab->end_guid[e], e };
	qsort(ports, n, sizeof(*ports), by_node);
	for (uint32_t i = 0, first = 0; i < n; i++) {
		if (ports[i].node != ports[first].node)
			first = i;
		d->end_number[ports[i].end] = (uint8_t)(i - first + 1);
		for (uint32_t k = first; k <= i; k++)
			d->end_ports[ports[k].end] = (uint8_t)(i - first + 1);
	}
	return true;
}

static bool
prepare(struct dump *d)
{
	size_t n_sw = d->fab->n_switches;
	fm_sw *queue = fm_arena_array(&d->mem, n_sw + 1, fm_sw);

	d->port_end = fm_arena_array(&d->mem, d->snap->sw_first_port[n_sw] + 1u, fm_end);
	d->distance = fm_arena_array(&d->mem, n_sw * n_sw + 1, uint8_t);
	d->end_number = fm_arena_array(&d->mem, (size_t)d->fab->n_ends + 1, uint8_t);
	d->end_ports = fm_arena_array(&d->mem, (size_t)d->fab->n_ends + 1, uint8_t);
	d->placed = fm_arena_array(&d->mem, (size_t)d->fab->n_ends + 1, struct placed);
	if (queue == NULL || d->port_end == NULL || d->distance == NULL || d->end_number == NULL ||
	    d->end_ports == NULL || d->placed == NULL)
		return false;
	index_ports(d);
	for (fm_sw sw = 0; sw < n_sw; sw++)
		search(d, sw, queue);
	return number_end_ports(d);
}

/* -------------------------------------------------------------------- lfts */

static const char *
end_word(const struct fm_fabric *fab, fm_end e)
{
	switch ((enum fm_end_kind)fab->end_kind[e]) {
	case FM_END_SWITCH:
		return "Switch";
	case FM_END_ROUTER:
		return "Router";
	case FM_END_CA:
	case FM_END_AGGREGATOR:
	case FM_END_PROXY:
		return "Channel Adapter";
	}
	return "Unknown";
}

static uint16_t
switch_lid(const struct dump *d, fm_sw sw)
{
	fm_end e = end_at(d, sw, 0);

	return e != FM_NONE ? d->fab->end_lid[e] : 0;
}

static void
write_lfts(const struct dump *d, FILE *out)
{
	const struct fm_fabric *fab = d->fab;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		uint32_t n = 0;

		fprintf(out,
		    "Unicast lids [0x0-0x%x] of switch Lid %u guid 0x%016" PRIx64 " (%s):\n",
		    fab->max_lid, switch_lid(d, sw), fab->sw_guid[sw], fab->sw_name[sw]);
		fputs("  Lid  Out   Destination\n       Port     Info \n", out);
		for (uint32_t lid = 1; lid <= fab->max_lid; lid++) {
			fm_end e = fab->lid_end[lid];

			if (e == FM_NONE || d->t->lft[sw][lid] > fab->sw_n_ports[sw])
				continue;
			fprintf(out, "0x%04x %03u : (%s portguid 0x%016" PRIx64 ": '%s')\n", lid,
			    d->t->lft[sw][lid], end_word(fab, e), fab->end_guid[e],
			    fab->end_name[e]);
			n++;
		}
		fprintf(out, "%u valid lids dumped \n", n);
	}
}

/* ------------------------------------------------------------- opensm.fdbs */

/* Hops as OpenSM counts them: links between switches, and one to a host. */
static uint32_t
count_hops(const struct dump *d, fm_sw sw, uint32_t lid)
{
	const struct fm_fabric *fab = d->fab;

	for (uint32_t hops = 0; hops <= fab->n_switches; hops++) {
		uint8_t port = d->t->lft[sw][lid];
		fm_link l = snapshot_link_at(d->snap, sw, port);

		if (port == FM_PORT_NONE)
			return UNREACHED;
		if (l == FM_NONE)
			return end_at(d, sw, port) != fab->lid_end[lid] ? UNREACHED
									: hops + (port != 0);
		sw = fab->link_to[l];
	}
	return UNREACHED;
}

static void
write_fdb(const struct dump *d, fm_sw sw, uint32_t lid, FILE *out)
{
	const struct fm_fabric *fab = d->fab;
	fm_end e = fab->lid_end[lid];
	uint8_t port = d->t->lft[sw][lid];
	uint32_t hops, best = UNREACHED;

	if (port == FM_PORT_NONE) {
		fprintf(out, "0x%04X : UNREACHABLE\n", lid);
		return;
	}
	hops = count_hops(d, sw, lid);
	if (fab->end_sw[e] != FM_NONE)
		best = d->distance[(size_t)fab->end_sw[e] * fab->n_switches + sw] +
		    (fab->end_kind[e] != FM_END_SWITCH);
	fprintf(out, "0x%04X : %03u  : %02u   : ", lid, port, hops);
	if (hops == best)
		fputs("yes\n", out);
	else
		fprintf(out, "No %u hop path possible!\n", best);
}

static void
write_fdbs(const struct dump *d, FILE *out)
{
	for (fm_sw sw = 0; sw < d->fab->n_switches; sw++) {
		fprintf(out,
		    "dump_ucast_routes: Switch 0x%016" PRIx64 "\nLID    : Port : Hops : Optimal\n",
		    d->fab->sw_guid[sw]);
		for (uint32_t lid = 1; lid <= d->fab->max_lid; lid++)
			if (d->fab->lid_end[lid] != FM_NONE)
				write_fdb(d, sw, lid, out);
		fputc('\n', out);
	}
}

/* ---------------------------------------------------------- opensm.mcfdbs */

/* Entry k of the blocks at[n], of which each has 16 ports. */
static void
write_mlid(const struct mft_block *at, uint32_t n, uint32_t k, FILE *out)
{
	bool any = false;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t p = 0; p < MFT_BLOCK_PORTS; p++) {
			if ((at[i].ports[k] >> p & 1) == 0)
				continue;
			if (!any)
				fprintf(out, "0x%04X :",
				    MCAST_MLID_FIRST + at->block * MCAST_BLOCK_MLIDS + k);
			any = true;
			fprintf(out, " 0x%03X ", at[i].position * MFT_BLOCK_PORTS + p);
		}
	if (any)
		fputc('\n', out);
}

static void
write_mcfdbs(const struct dump *d, FILE *out)
{
	for (fm_sw sw = 0; d->mfts != NULL && sw < d->fab->n_switches; sw++) {
		const struct mft_row *row = sw < d->mfts->n_switches ? d->mfts->row[sw] : NULL;
		uint32_t end;

		if (row == NULL)
			continue;
		fprintf(
		    out, "\nSwitch 0x%016" PRIx64 "\nLID    : Out Port(s)\n", d->fab->sw_guid[sw]);
		for (uint32_t i = 0; i < row->n; i = end) {
			for (end = i + 1;
			     end < row->n && row->block[end].block == row->block[i].block;)
				end++;
			for (uint32_t k = 0; k < MCAST_BLOCK_MLIDS; k++)
				write_mlid(&row->block[i], end - i, k, out);
		}
	}
}

/* ------------------------------------------------------- opensm-subnet.lst */

static void
write_name(FILE *out, const char *name)
{
	for (; *name != '\0'; name++)
		fputc(*name == '{' || *name == '}' || *name == '\n' ? '_' : *name, out);
}

static void
write_switch_side(const struct dump *d, fm_sw sw, uint8_t port, FILE *out)
{
	const struct fm_fabric *fab = d->fab;

	fprintf(out,
	    "{ SW Ports:%02X SystemGUID:%016" PRIx64 " NodeGUID:%016" PRIx64 " PortGUID:%016" PRIx64
	    " VenID:000000 DevID:0000 Rev:00000000 {",
	    fab->sw_n_ports[sw], fab->sw_system_guid[sw], fab->sw_guid[sw], fab->sw_guid[sw]);
	write_name(out, fab->sw_name[sw]);
	fprintf(out, "} LID:%04X PN:%02X }", switch_lid(d, sw), port);
}

static void
write_end_side(const struct dump *d, fm_end e, FILE *out)
{
	const struct fm_fabric *fab = d->fab;

	fprintf(out,
	    "{ %s Ports:%02X SystemGUID:%016" PRIx64 " NodeGUID:%016" PRIx64 " PortGUID:%016" PRIx64
	    " VenID:000000 DevID:0000 Rev:00000000 {",
	    fab->end_kind[e] == FM_END_ROUTER ? "Rt" : "CA", d->end_ports[e],
	    fab->end_system_guid[e], fab->end_node_guid[e], fab->end_guid[e]);
	write_name(out, fab->end_name[e]);
	fprintf(out, "} LID:%04X PN:%02X }", fab->end_lid[e], d->end_number[e]);
}

/* OpenSM's words.  A rate that is not known, or none that there is, is written as 4x 10. */
static void
write_link_tail(uint32_t mbps, FILE *out)
{
	uint8_t lanes = link_speed_lanes(mbps);

	fprintf(out, " PHY=%ux LOG=ACT SPD=%s\n", lanes > 0 ? lanes : 4,
	    lanes > 0 ? link_speed_signal(mbps / lanes) : "10");
}

static uint32_t
end_mbps(const struct dump *d, fm_end e)
{
	return d->snap->end_mbps != NULL ? d->snap->end_mbps[e] : 0;
}

static void
write_subnet(const struct dump *d, FILE *out)
{
	const struct fm_fabric *fab = d->fab;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++) {
		for (fm_end e = fab->sw_first_end[sw]; e < fab->sw_first_end[sw + 1]; e++) {
			if (fab->end_kind[e] == FM_END_SWITCH || fab->end_kind[e] == FM_END_PROXY)
				continue;
			write_switch_side(d, sw, fab->end_port[e], out);
			fputc(' ', out);
			write_end_side(d, e, out);
			write_link_tail(end_mbps(d, e), out);
			write_end_side(d, e, out);
			fputc(' ', out);
			write_switch_side(d, sw, fab->end_port[e], out);
			write_link_tail(end_mbps(d, e), out);
		}
		for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++) {
			write_switch_side(d, sw, fab->link_port[l], out);
			fputc(' ', out);
			write_switch_side(
			    d, fab->link_to[l], fab->link_port[fab->link_rev[l]], out);
			write_link_tail(fab->link_mbps[l], out);
		}
	}
}

/* --------------------------------------------------------- sl2vl, path-sl */

static uint8_t
vl_of(const struct dump *d, fm_sw sw, uint8_t in, uint8_t out, uint8_t sl)
{
	fm_link l = snapshot_link_at(d->snap, sw, out);
	fm_end e = end_at(d, sw, out);

	if (l != FM_NONE)
		return tables_vl(d->fab, d->t, sw, in, l, sl);
	return e != FM_NONE && d->fab->end_n_vls[e] > 0 ? sl % d->fab->end_n_vls[e] : 0;
}

static bool
is_cabled(const struct dump *d, fm_sw sw, uint8_t port)
{
	return snapshot_link_at(d->snap, sw, port) != FM_NONE || end_at(d, sw, port) != FM_NONE;
}

static void
write_sl2vl(const struct dump *d, FILE *out)
{
	const struct fm_fabric *fab = d->fab;

	for (fm_sw sw = 0; sw < fab->n_switches; sw++)
		for (unsigned in = 0; in <= fab->sw_n_ports[sw]; in++)
			for (unsigned to = 1; to <= fab->sw_n_ports[sw]; to++) {
				if (in == to || !is_cabled(d, sw, (uint8_t)in) ||
				    !is_cabled(d, sw, (uint8_t)to))
					continue;
				fprintf(out, "0x%016" PRIx64 " %u %u", fab->sw_guid[sw], in, to);
				for (uint8_t sl = 0; sl < N_SLS; sl += 2)
					fprintf(out, " 0x%x%x",
					    vl_of(d, sw, (uint8_t)in, (uint8_t)to, sl),
					    vl_of(d, sw, (uint8_t)in, (uint8_t)to, sl + 1));
				fputc('\n', out);
			}
}

static void
write_path_sl(const struct dump *d, FILE *out)
{
	const struct fm_fabric *fab = d->fab;

	if (d->t->sl_shape == FM_SL_ZERO)
		return;
	for (fm_end e = 0; e < fab->n_ends; e++) {
		if (fab->end_sw[e] == FM_NONE || fab->end_kind[e] == FM_END_PROXY)
			continue;
		for (uint32_t lid = 1; lid <= fab->max_lid; lid++)
			if (fab->lid_end[lid] != FM_NONE && fab->lid_end[lid] != e)
				fprintf(out, "0x%016" PRIx64 " %u %u\n", fab->end_node_guid[e], lid,
				    tables_sl(d->t, fab->end_sw[e], (uint16_t)lid));
	}
}

/* ------------------------------------------------------------ order of hosts */

static int
by_place(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

static void
write_ca_order(const struct dump *d, FILE *out)
{
	const struct fm_fabric *fab = d->fab;
	uint32_t n = 0, at = 0;

	for (fm_end e = 0; e < fab->n_ends; e++)
		if (fab->end_sw[e] != FM_NONE && d->t->order[fab->end_lid[e]] != FM_NONE)
			d->placed[n++] = (struct placed){ d->t->order[fab->end_lid[e]], e };
	qsort(d->placed, n, sizeof(*d->placed), by_place);
	for (uint32_t i = 0; i < n; i++, at++) {
		for (; at < d->placed[i].place && at < UINT16_MAX; at++)
			fprintf(out, "0xFFFF\tDUMMY\n");
		fprintf(out, "0x%04x\t%s\n", fab->end_lid[d->placed[i].end],
		    fab->end_name[d->placed[i].end]);
	}
}

/* --------------------------------------------------------------- ar-groups */

static void
write_group(const struct dump *d, fm_sw sw, uint16_t group, FILE *out)
{
	const uint64_t *ports = d->t->ar_ports[sw][group];

	fprintf(out, "group %u", group);
	for (unsigned port = 0; port < 256; port++)
		if (ports[port / 64] >> (port % 64) & 1)
			fprintf(out, " %u", port);
	fputc('\n', out);
}

/* LIDs of one group in a row, those of nobody left out. */
static void
write_lids(const struct dump *d, fm_sw sw, FILE *out)
{
	const uint16_t *row = d->t->ar_group[sw];
	uint32_t first = 0;

	for (uint32_t lid = 1; lid <= d->fab->max_lid + 1u; lid++) {
		bool used = lid <= d->fab->max_lid && d->fab->lid_end[lid] != FM_NONE;

		if (first != 0 && (!used || row[lid] != row[first])) {
			fprintf(out, "lids %u-%u %u\n", first, lid - 1, row[first]);
			first = 0;
		}
		if (first == 0 && used && row[lid] != 0)
			first = lid;
	}
}

static void
write_groups(const struct dump *d, FILE *out)
{
	const struct fm_fabric *fab = d->fab;

	fprintf(out,
	    "# groups of adaptive routing, see fmroute(1): a packet for LIDs FIRST-LAST may "
	    "leave by any port of GROUP\n");
	for (fm_sw sw = 0; tables_are_adaptive(d->t) && sw < fab->n_switches; sw++) {
		fprintf(out, "switch 0x%016" PRIx64 " %s\n", fab->sw_guid[sw],
		    fab->sw_name[sw] != NULL ? fab->sw_name[sw] : "");
		for (uint32_t g = 1; g <= d->t->ar_n_groups[sw]; g++) {
			const uint64_t *ports = d->t->ar_ports[sw][g];

			if ((ports[0] | ports[1] | ports[2] | ports[3]) != 0)
				write_group(d, sw, (uint16_t)g, out);
		}
		write_lids(d, sw, out);
	}
}

/* ------------------------------------------------------------------- files */

static const struct dump_file {
	const char *name;
	void (*write)(const struct dump *d, FILE *out);
	bool of_order; /* only where the tables have one */
} files[] = {
	{ "lfts", write_lfts },
	{ "opensm-subnet.lst", write_subnet },
	{ "opensm.fdbs", write_fdbs },
	{ "opensm.mcfdbs", write_mcfdbs },
	{ "sl2vl", write_sl2vl },
	{ "path-sl", write_path_sl },
	{ "opensm-ftree-ca-order.dump", write_ca_order, true },
	{ "ar-groups", write_groups },
};

static int
write_file(const struct dump *d, const char *dir, const struct dump_file *f, struct fm_error *err)
{
	char path[4096];
	FILE *out;
	bool failed;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, f->name);
	if (f->of_order && d->t->order == NULL) {
		unlink(path); /* of an earlier dump */
		return 0;
	}
	fd = fm_file_new(path, 0666);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (out == NULL)
		return fm_fail(err, FM_E_SYSTEM, "cannot write %.150s: %s", path, strerror(errno));
	f->write(d, out);
	failed = ferror(out) != 0;
	failed = fclose(out) != 0 || failed;
	if (!fm_file_done(path, !failed))
		return fm_fail(err, FM_E_SYSTEM, "cannot write %.150s: %s", path, strerror(errno));
	return 0;
}

int
dump_open(const char *dir, struct fm_error *err)
{
	struct stat st;

	if (mkdir(dir, 0755) != 0 && errno != EEXIST)
		return fm_fail(
		    err, FM_E_SYSTEM, "cannot make directory %.150s: %s", dir, strerror(errno));
	if (stat(dir, &st) == 0 && !S_ISDIR(st.st_mode))
		return fm_fail(
		    err, FM_E_CONFIG, "%.150s is no directory, and tables are several files", dir);
	if (access(dir, W_OK | X_OK) != 0)
		return fm_fail(
		    err, FM_E_SYSTEM, "cannot write into %.150s: %s", dir, strerror(errno));
	return 0;
}

int
dump_tables(const char *dir, const struct snapshot *snap, const struct fm_tables *tables,
    const struct mft_rows *mfts, struct fm_error *err)
{
	struct dump d = { .snap = snap, .fab = &snap->fab, .t = tables, .mfts = mfts };
	int rc = dump_open(dir, err);

	if (rc != 0)
		return rc;
	fm_arena_init(&d.mem, SIZE_MAX);
	if (!prepare(&d))
		rc = fm_fail(err, FM_E_RESOURCE, "out of memory while dumping tables");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && rc == 0; i++)
		rc = write_file(&d, dir, &files[i], err);
	fm_arena_fini(&d.mem);
	return rc;
}
