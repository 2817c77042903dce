/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing a fabric as ibnetdiscover would print it, which ibsim and
 * netlist_read() read.  A description may hold quotes (it ends at the last one
 * of the line); a newline becomes '?'.  O(ports).
 */
#include "core/netlist/netlist.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/graph/link_speed.h"
#include "lib/error.h"

static void
write_quoted(FILE *out, const char *text)
{
	putc('"', out);
	for (; *text != '\0'; text++)
		putc(*text == '\n' ? '?' : *text, out);
	putc('"', out);
}

/* LID 0 = none; ibsim looks for the speed behind a LID only. */
static void
write_lid(FILE *out, const struct netlist_port *port, bool with_lmc)
{
	fprintf(out, " lid %u", port->lid);
	if (with_lmc)
		fprintf(out, " lmc %u", port->lmc);
}

/* [1](guid)	"peer"[2](guid)		# lid 4 lmc 0 "description" lid 6 4xEDR */
static void
write_port(const struct netlist *nl, uint32_t node, unsigned p, FILE *out)
{
	const struct netlist_port *port = netlist_port(nl, node, p);
	const struct netlist_node *peer = &nl->nodes[port->peer_node];
	bool peer_is_switch = peer->type == NETLIST_SWITCH;
	const struct netlist_port *far =
	    netlist_port(nl, port->peer_node, peer_is_switch ? 0 : port->peer_port);

	fprintf(out, "[%u]", p);
	if (nl->nodes[node].type != NETLIST_SWITCH)
		fprintf(out, "(%" PRIx64 ")", port->guid);
	putc('\t', out);
	write_quoted(out, peer->id);
	fprintf(out, "[%u]", port->peer_port);
	if (!peer_is_switch)
		fprintf(out, "(%" PRIx64 ")", far->guid);
	fputs("\t\t#", out);
	if (nl->nodes[node].type != NETLIST_SWITCH)
		write_lid(out, port, true);
	putc(' ', out);
	write_quoted(out, peer->desc);
	write_lid(out, far, false);
	fprintf(out, " %ux%s\n", port->width, link_speed_word(port->lane_mbps));
}

static void
write_node(const struct netlist *nl, uint32_t node, FILE *out)
{
	static const char *const word[] = { "Switch", "Ca", "Rt" };
	static const char *const key[] = { "switchguid", "caguid", "rtguid" };
	const struct netlist_node *n = &nl->nodes[node];
	const struct netlist_port *port0 = netlist_port(nl, node, 0);

	fputc('\n', out);
	if (n->vendor_id != 0)
		fprintf(out, "vendid=0x%x\n", n->vendor_id);
	if (n->device_id != 0)
		fprintf(out, "devid=0x%x\n", n->device_id);
	fprintf(out, "sysimgguid=0x%" PRIx64 "\n", n->system_guid != 0 ? n->system_guid : n->guid);
	fprintf(out, "%s=0x%" PRIx64, key[n->type], n->guid);
	if (n->type == NETLIST_SWITCH)
		fprintf(out, "(%" PRIx64 ")", port0->guid);
	fprintf(out, "\n%s\t%u ", word[n->type], n->n_ports);
	write_quoted(out, n->id);
	fputs("\t\t# ", out);
	write_quoted(out, n->desc);
	if (n->type == NETLIST_SWITCH) {
		fprintf(out, " %s port 0", n->enhanced_port0 ? "enhanced" : "base");
		write_lid(out, port0, true);
	}
	putc('\n', out);
	for (unsigned p = 1; p <= n->n_ports; p++)
		if (netlist_port(nl, node, p)->peer_node != NETLIST_NONE)
			write_port(nl, node, p, out);
}

int
netlist_write(const struct netlist *nl, FILE *out, struct fm_error *err)
{
	for (uint32_t i = 0; i < nl->n_nodes; i++)
		write_node(nl, i, out);
	return netlist_written(out, err);
}

int
netlist_written(FILE *out, struct fm_error *err)
{
	if (fflush(out) != 0 || ferror(out))
		return fm_fail(err, FM_E_SYSTEM, "cannot write the fabric: %s", strerror(errno));
	return 0;
}
