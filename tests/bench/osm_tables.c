/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An event plugin of OpenSM: when its unicast routes are computed, write them
 * into $OSM_TABLES_DIR, as `fmroute check` reads them, and end the program.
 *
 *	lids	  port GUID, base LID, LMC
 *	lfts	  forwarding tables
 *	path-sl	  SLs that the routing engine gives, from one host of each switch
 *	sl2vl	  the map that goes with them
 *
 * OpenSM dumps no SLs of its own; and its dumps of tables name the host on
 * every line, gigabytes on large fabrics.  Built by dev/bench against
 * libopensm-dev.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <opensm/osm_config.h>
#include <opensm/osm_version.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_event_plugin.h>

#define N_SLS 16

static FILE *
begin(const char *name)
{
	char path[4096];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", getenv("OSM_TABLES_DIR"), name);
	out = fopen(path, "we");
	if (out == NULL)
		_exit(3);
	return out;
}

static void
end(FILE *out)
{
	if (fclose(out) != 0)
		_exit(3);
}

static void
write_lids(osm_opensm_t *osm)
{
	FILE *out = begin("lids");

	for (cl_map_item_t *i = cl_qmap_head(&osm->subn.port_guid_tbl);
	     i != cl_qmap_end(&osm->subn.port_guid_tbl); i = cl_qmap_next(i)) {
		osm_port_t *port = (osm_port_t *)i;

		fprintf(out, "0x%016llx %u %u\n",
		    (unsigned long long)cl_ntoh64(osm_port_get_guid(port)),
		    cl_ntoh16(osm_port_get_base_lid(port)), osm_port_get_lmc(port));
	}
	end(out);
}

/* "0x0001 003 :" without printf: there are tens of millions. */
static void
write_entry(FILE *out, unsigned lid, unsigned port)
{
	static const char hex[] = "0123456789abcdef";
	char line[13] = { '0', 'x', hex[lid >> 12], hex[lid >> 8 & 15], hex[lid >> 4 & 15],
		hex[lid & 15], ' ', (char)('0' + port / 100), (char)('0' + port / 10 % 10),
		(char)('0' + port % 10), ' ', ':', '\n' };

	fwrite(line, 1, sizeof(line), out);
}

static void
write_lfts(osm_opensm_t *osm)
{
	FILE *out = begin("lfts");

	for (cl_map_item_t *i = cl_qmap_head(&osm->subn.sw_guid_tbl);
	     i != cl_qmap_end(&osm->subn.sw_guid_tbl); i = cl_qmap_next(i)) {
		osm_switch_t *sw = (osm_switch_t *)i;

		fprintf(out, "Unicast lids [0x0-0x%x] of switch Lid %u guid 0x%016llx (sw):\n",
		    sw->max_lid_ho, cl_ntoh16(osm_node_get_base_lid(sw->p_node, 0)),
		    (unsigned long long)cl_ntoh64(osm_node_get_node_guid(sw->p_node)));
		for (unsigned lid = 1; lid <= sw->max_lid_ho; lid++)
			if (sw->new_lft != NULL && sw->new_lft[lid] != OSM_NO_PATH)
				write_entry(out, lid, sw->new_lft[lid]);
	}
	end(out);
}

/* A host's port on this switch, or NULL. */
static osm_physp_t *
host_of(osm_switch_t *sw)
{
	for (unsigned p = 1; p < sw->num_ports; p++) {
		osm_physp_t *port = osm_node_get_physp_ptr(sw->p_node, p);
		osm_physp_t *peer = port != NULL ? osm_physp_get_remote(port) : NULL;

		if (peer != NULL && osm_node_get_type(peer->p_node) == IB_NODE_TYPE_CA)
			return peer;
	}
	return NULL;
}

static void
write_paths_from(osm_opensm_t *osm, osm_physp_t *from, FILE *out)
{
	struct osm_routing_engine *re = osm->routing_engine_used;

	for (cl_map_item_t *i = cl_qmap_head(&osm->subn.port_guid_tbl);
	     i != cl_qmap_end(&osm->subn.port_guid_tbl); i = cl_qmap_next(i)) {
		osm_port_t *to = (osm_port_t *)i;

		if (to->p_physp != from)
			fprintf(out, "0x%016llx %u %u\n",
			    (unsigned long long)cl_ntoh64(osm_node_get_node_guid(from->p_node)),
			    cl_ntoh16(osm_port_get_base_lid(to)),
			    re->path_sl(re->context, 0, osm_physp_get_base_lid(from),
				osm_port_get_base_lid(to)) &
				15);
	}
}

static void
write_path_sl(osm_opensm_t *osm)
{
	FILE *out = begin("path-sl");

	for (cl_map_item_t *i = cl_qmap_head(&osm->subn.sw_guid_tbl);
	     i != cl_qmap_end(&osm->subn.sw_guid_tbl); i = cl_qmap_next(i)) {
		osm_physp_t *from = host_of((osm_switch_t *)i);

		if (from != NULL)
			write_paths_from(osm, from, out);
	}
	end(out);
}

static void
write_map(osm_opensm_t *osm, osm_switch_t *sw, unsigned in, unsigned to, FILE *out)
{
	struct osm_routing_engine *re = osm->routing_engine_used;
	ib_slvl_table_t map = { 0 };

	for (uint8_t sl = 0; sl < N_SLS; sl++)
		ib_slvl_table_set(&map, sl, sl % 8);
	if (re->update_sl2vl != NULL)
		re->update_sl2vl(re->context, osm_node_get_physp_ptr(sw->p_node, to), (uint8_t)in,
		    (uint8_t)to, &map);
	fprintf(out, "0x%016llx %u %u",
	    (unsigned long long)cl_ntoh64(osm_node_get_node_guid(sw->p_node)), in, to);
	for (uint8_t sl = 0; sl < N_SLS; sl += 2)
		fprintf(out, " 0x%x%x", ib_slvl_table_get(&map, sl) % 8,
		    ib_slvl_table_get(&map, (uint8_t)(sl + 1)) % 8);
	fputc('\n', out);
}

static int
is_cabled(osm_switch_t *sw, unsigned p)
{
	osm_physp_t *port = osm_node_get_physp_ptr(sw->p_node, p);

	return p == 0 || (port != NULL && osm_physp_get_remote(port) != NULL);
}

static void
write_sl2vl(osm_opensm_t *osm)
{
	FILE *out = begin("sl2vl");

	for (cl_map_item_t *i = cl_qmap_head(&osm->subn.sw_guid_tbl);
	     i != cl_qmap_end(&osm->subn.sw_guid_tbl); i = cl_qmap_next(i)) {
		osm_switch_t *sw = (osm_switch_t *)i;

		for (unsigned in = 0; in < sw->num_ports; in++)
			for (unsigned to = 1; to < sw->num_ports; to++)
				if (in != to && is_cabled(sw, in) && is_cabled(sw, to))
					write_map(osm, sw, in, to, out);
	}
	end(out);
}

static void *
create(struct osm_opensm *osm)
{
	return osm;
}

static void
destroy(void *data)
{
	(void)data;
}

static void
report(void *data, osm_epi_event_id_t event, void *event_data)
{
	osm_opensm_t *osm = data;

	(void)event_data;
	if (event != OSM_EVENT_ID_UCAST_ROUTING_DONE)
		return;
	write_lids(osm);
	write_lfts(osm);
	if (osm->routing_engine_used != NULL && osm->routing_engine_used->path_sl != NULL) {
		write_path_sl(osm);
		write_sl2vl(osm);
	}
	end(begin("done"));
	fflush(NULL);
	_exit(0);
}

osm_event_plugin_t osm_event_plugin = {
	.osm_version = OSM_VERSION, .create = create, .delete = destroy, .report = report
};
