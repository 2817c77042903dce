/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/daemon/path_command.c - fmctl path FROM TO: the way of packets, hop by hop,
 * and what the SA would say of it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/daemon/daemon.h"
#include "core/sa/path.h"
#include "core/server/server.h"
#include "core/text/json_text.h"
#include "lib/error.h"

/* ------------------------------------------------------------------- who */

/* A LID, the GUID of a port or a node, or a node's description.  *lid: which one of the
 * end's, where the word is a LID. */
static uint32_t
find_end(const struct sa_view *v, const char *word, uint16_t *lid)
{
	char *stop;
	uint64_t number = strtoull(word, &stop, 0);
	uint32_t end = FM_NONE;

	if (*word != '\0' && *stop == '\0') {
		if (number <= UINT16_MAX)
			end = sa_view_end_of_lid(v, *lid = (uint16_t)number);
		if (end == FM_NONE)
			end = sa_view_end_of_guid(v, number);
	}
	for (uint32_t i = 0; end == FM_NONE && i < v->n_ends; i++) {
		const struct sa_node *n = v->node[v->end[i].node];

		if (strncmp((const char *)n->desc, word, sizeof(n->desc)) == 0 ||
		    (*stop == '\0' && n->info.node_guid == number))
			end = i;
	}
	if (end != FM_NONE && (*lid < v->end[end].lid || sa_view_end_of_lid(v, *lid) != end))
		*lid = v->end[end].lid;
	return end;
}

static int
find(const struct sa_view *v, const json_t *args, const char *key, uint32_t *end, uint16_t *lid,
    struct fm_error *err)
{
	const json_t *given = json_object_get(args, key);
	const char *word = json_string_value(given);
	char number[32];

	if (json_is_integer(given)) {
		snprintf(
		    number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(given));
		word = number;
	}
	if (word == NULL)
		return fm_fail(err, FM_E_CONFIG,
		    "say from where to where: path FROM TO, each a LID, a GUID or the name of a "
		    "node");
	*lid = 0;
	*end = find_end(v, word, lid);
	return *end != FM_NONE
	    ? 0
	    : fm_fail(err, FM_E_CONFIG, "\"%.100s\" is no LID, GUID or name of a port that is up",
		  word);
}

/* ------------------------------------------------------------------- what */

static unsigned
mtu_bytes(uint8_t code)
{
	return code == 0 || code > 5 ? 0 : 128u << code;
}

static json_t *
name_json(const struct sa_node *n)
{
	char text[sizeof(n->desc) + 1] = { 0 };

	memcpy(text, n->desc, sizeof(n->desc));
	return json_text(text);
}

static json_t *
end_json(const struct sa_view *v, uint32_t end, uint16_t lid)
{
	const struct sa_end *e = &v->end[end];
	char guid[32];

	snprintf(guid, sizeof(guid), "0x%016" PRIx64, e->guid);
	return json_pack("{s:o, s:i, s:i, s:s}", "node", name_json(v->node[e->node]), "port",
	    (int)e->port, "lid", (int)lid, "guid", guid);
}

static json_t *
hop_json(const struct sa_view *v, const struct sa_hop *h)
{
	return json_pack("{s:o, s:i, s:i, s:i, s:i, s:I}", "switch",
	    name_json(v->node[v->sw_node[h->sw]]), "in", (int)h->in_port, "out", (int)h->out_port,
	    "vl", (int)h->vl, "mtu", (int)mtu_bytes(h->attr.mtu), "mbps", (json_int_t)h->attr.mbps);
}

static json_t *
hops_json(const struct sa_view *v, const struct sa_hop *hop, unsigned n)
{
	json_t *hops = json_array();

	for (unsigned i = 0; hops != NULL && i < n; i++)
		if (v->sw_node[hop[i].sw] != FM_NONE)
			json_array_append_new(hops, hop_json(v, &hop[i]));
	return hops;
}

static json_t *
path_json(const struct sa_view *v, uint32_t src, uint16_t slid, uint32_t dst, uint16_t dlid)
{
	struct sa_hop hop[SA_MOST_HOPS];
	struct sa_path path = { 0 };
	bool arrives = sa_path_find(v, src, slid, dlid, &path);
	unsigned n = 0;

	if (v->plan != NULL)
		sa_path_walk(v, src, dlid, hop, &n);
	return json_pack("{s:o, s:o, s:b, s:i, s:i, s:I, s:b, s:i, s:o}", "from",
	    end_json(v, src, slid), "to", end_json(v, dst, dlid), "arrives", (int)arrives, "sl",
	    (int)path.sl, "mtu", (int)mtu_bytes(path.attr.mtu), "mbps", (json_int_t)path.attr.mbps,
	    "reversible", (int)path.reversible, "pkey", (int)sa_view_shared_pkey(v, src, dst, 0),
	    "hops", hops_json(v, hop, n));
}

int
daemon_path(struct daemon *d, const json_t *args, json_t **result, struct fm_error *err)
{
	struct sa_view *v = d->sa != NULL ? sa_server_view(d->sa) : NULL;
	uint32_t src = FM_NONE, dst = FM_NONE;
	uint16_t slid, dlid;
	int rc;

	if (v == NULL || v->unverified) { /* what was kept knows of no VLs */
		sa_view_put(v);
		return fm_fail(err, FM_E_CONFIG, "the subnet is not up yet, or another SM's");
	}
	rc = find(v, args, "from", &src, &slid, err);
	if (rc == 0)
		rc = find(v, args, "to", &dst, &dlid, err);
	if (rc == 0) {
		*result = path_json(v, src, slid, dst, dlid);
		if (*result == NULL)
			rc = fm_fail(err, FM_E_RESOURCE, "out of memory for the answer");
	}
	sa_view_put(v);
	return rc;
}
