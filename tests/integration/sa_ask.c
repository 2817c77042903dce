/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sa_ask - ask the SA for paths in any way a host may, also in those for which saquery has no
 * option: raw bits, P_Keys and hop limits, selectors, service ids, many GIDs at once.
 *
 *	sa_ask SM_LID get|table|multi|trace [KEY=VALUE...]
 *
 * Keys are fields of a PathRecord (or, for multi, a MultiPathRecord): service, dgid, sgid
 * (PREFIX:GUID in hexadecimal; again for more in multi), dlid, slid, raw, flow, hop, tclass,
 * reversible, n, pkey, class, sl, independent; mtu, rate and life as selector and code, ">4",
 * "<4", "=4" or "most".  What is named is in the component mask.
 *
 * Prints records as saquery does, or the status.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mad/umad_agent.h"
#include "core/wire/sa_wire.h"
#include "core/wire/wire_rows.h"

#define GSI_QKEY 0x80010000
#define TIMEOUT_MS 5000
#define GIDS_MAX 64

struct question {
	uint8_t method;
	uint16_t attr;
	uint64_t mask;
	struct sa_path_record path;
	struct sa_multi_path_record multi;
	struct sa_gid from[GIDS_MAX], to[GIDS_MAX];
	uint8_t n_from, n_to;
};

static int
fail(const char *what)
{
	fprintf(stderr, "sa_ask: %s\n", what);
	return 1;
}

/* ------------------------------------------------------------------ question */

static struct sa_gid
read_gid(const char *text)
{
	struct sa_gid g = { 0 };
	char *end;

	g.prefix = strtoull(text, &end, 16);
	g.guid = *end == ':' ? strtoull(end + 1, NULL, 16) : 0;
	return g;
}

/* ">4": the selector and the code. */
static bool
read_select(const char *text, uint8_t *selector, uint8_t *code)
{
	static const char signs[] = "><=";
	const char *sign = strchr(signs, text[0]);

	*selector = sign != NULL && *sign != '\0' ? (uint8_t)(sign - signs) : SA_LARGEST;
	*code = (uint8_t)strtoul(text + (*selector != SA_LARGEST), NULL, 0);
	return *selector != SA_LARGEST || strcmp(text, "most") == 0;
}

/* Where a number goes, and its component in either record. */
static const struct number_row {
	const char *key;
	struct wire_field field; /* of struct question */
	uint64_t in_path, in_multi;
} numbers[] = {
#define NUMBER(word, field, in_path, in_multi) \
	{ \
		word, \
		    { .member_at = offsetof(struct question, field), \
			    .member_bytes = sizeof(((struct question *)0)->field) }, \
		    in_path, in_multi \
	}
	NUMBER("service", path.service_id, SA_PR_SERVICE_ID, SA_MPR_SERVICE_ID),
	NUMBER("dlid", path.dlid, SA_PR_DLID, 0), NUMBER("slid", path.slid, SA_PR_SLID, 0),
	NUMBER("raw", path.raw_traffic, SA_PR_RAW_TRAFFIC, SA_MPR_RAW_TRAFFIC),
	NUMBER("flow", path.flow_label, SA_PR_FLOW_LABEL, SA_MPR_FLOW_LABEL),
	NUMBER("hop", path.hop_limit, SA_PR_HOP_LIMIT, SA_MPR_HOP_LIMIT),
	NUMBER("tclass", path.tclass, SA_PR_TCLASS, SA_MPR_TCLASS),
	NUMBER("reversible", path.reversible, SA_PR_REVERSIBLE, SA_MPR_REVERSIBLE),
	NUMBER("n", path.n_paths, SA_PR_N_PATHS, SA_MPR_N_PATHS),
	NUMBER("pkey", path.pkey, SA_PR_PKEY, SA_MPR_PKEY),
	NUMBER("class", path.qos_class, SA_PR_QOS_CLASS, SA_MPR_QOS_CLASS),
	NUMBER("sl", path.sl, SA_PR_SL, SA_MPR_SL),
	NUMBER("independent", multi.independence, 0, SA_MPR_INDEPENDENCE)
};

static bool
take_gid(struct question *q, bool from, const char *text)
{
	uint8_t *n = from ? &q->n_from : &q->n_to;

	if (*n == GIDS_MAX)
		return false;
	(from ? q->from : q->to)[(*n)++] = read_gid(text);
	return true;
}

static bool
take_select(struct question *q, const char *key, const char *text)
{
	struct sa_path_record *p = &q->path;
	bool multi = q->method == SA_GET_MULTI;

	if (strcmp(key, "mtu") == 0) {
		q->mask |=
		    multi ? SA_MPR_MTU_SELECTOR | SA_MPR_MTU : SA_PR_MTU_SELECTOR | SA_PR_MTU;
		return read_select(text, &p->mtu_selector, &p->mtu);
	}
	if (strcmp(key, "rate") == 0) {
		q->mask |=
		    multi ? SA_MPR_RATE_SELECTOR | SA_MPR_RATE : SA_PR_RATE_SELECTOR | SA_PR_RATE;
		return read_select(text, &p->rate_selector, &p->rate);
	}
	if (strcmp(key, "life") == 0) {
		q->mask |=
		    multi ? SA_MPR_LIFE_SELECTOR | SA_MPR_LIFE : SA_PR_LIFE_SELECTOR | SA_PR_LIFE;
		return read_select(text, &p->life_selector, &p->life);
	}
	return false;
}

static bool
take_word(struct question *q, char *word)
{
	char *value = strchr(word, '=');

	if (value == NULL)
		return false;
	*value++ = '\0';
	if (strcmp(word, "sgid") == 0 || strcmp(word, "dgid") == 0)
		return take_gid(q, word[0] == 's', value);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (strcmp(numbers[i].key, word) == 0) {
			q->mask |=
			    q->method == SA_GET_MULTI ? numbers[i].in_multi : numbers[i].in_path;
			wire_store(q, &numbers[i].field, strtoull(value, NULL, 0));
			return true;
		}
	return take_select(q, word, value);
}

static bool
read_question(struct question *q, int argc, char **argv)
{
	static const struct {
		const char *word;
		uint8_t method;
		uint16_t attr;
	} methods[] = { { "get", SA_GET, SA_PATH_RECORD },
		{ "table", SA_GET_TABLE, SA_PATH_RECORD },
		{ "multi", SA_GET_MULTI, SA_MULTI_PATH_RECORD },
		{ "trace", SA_GET_TRACE_TABLE, SA_PATH_RECORD } };

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (strcmp(methods[i].word, argv[0]) == 0) {
			q->method = methods[i].method;
			q->attr = methods[i].attr;
		}
	for (int i = 1; i < argc; i++)
		if (!take_word(q, argv[i]))
			return false;
	return q->method != 0;
}

/* ------------------------------------------------------------------- request */

static void
put_gids(uint8_t *at, const struct sa_gid *g, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sa_gid_put(at + 16 * (size_t)i, g[i]);
}

/* The whole message; how long it is. */
static size_t
compose(struct question *q, uint8_t *mad)
{
	struct sa_header h = { .base_version = 1,
		.mgmt_class = WIRE_CLASS_SA,
		.class_version = SA_CLASS_VERSION,
		.method = q->method,
		.attr = q->attr,
		.tid = 1 };
	const struct sa_path_record *p = &q->path;
	uint8_t *at = mad + SA_DATA_AT;

	if (q->method != SA_GET_MULTI) {
		q->mask |= (q->n_from > 0 ? SA_PR_SGID : 0) | (q->n_to > 0 ? SA_PR_DGID : 0);
		q->path.sgid = q->from[0];
		q->path.dgid = q->to[0];
		h.mask = q->mask;
		sa_header_put(mad, &h);
		sa_record_put(sa_record_of(q->attr), at, &q->path);
		return WIRE_MAD_BYTES;
	}
	q->multi = (struct sa_multi_path_record){ p->raw_traffic, p->flow_label, p->hop_limit,
		p->tclass, p->reversible, p->n_paths, p->pkey, p->qos_class, p->sl, p->mtu_selector,
		p->mtu, p->rate_selector, p->rate, p->life_selector, p->life,
		(uint8_t)(p->service_id >> 56), q->multi.independence, q->n_from, q->n_to,
		p->service_id << 8 >> 8 };
	h.mask = q->mask | SA_MPR_N_SGIDS | SA_MPR_N_DGIDS;
	h.rmpp_version = SA_RMPP_VERSION;
	h.rmpp_type = SA_RMPP_DATA;
	h.rmpp_flags = SA_RMPP_ACTIVE;
	sa_header_put(mad, &h);
	sa_record_put(sa_record_of(q->attr), at, &q->multi);
	put_gids(at + SA_MULTI_PATH_GIDS_AT, q->from, q->n_from);
	put_gids(at + SA_MULTI_PATH_GIDS_AT + 16 * q->n_from, q->to, q->n_to);
	return SA_DATA_AT + SA_MULTI_PATH_GIDS_AT + 16 * (size_t)(q->n_from + q->n_to);
}

/* -------------------------------------------------------------------- answer */

static void
print_gid(const char *name, struct sa_gid g)
{
	printf("\t\t%s%016" PRIx64 ":%016" PRIx64 "\n", name, g.prefix, g.guid);
}

static void
print_path(const struct sa_path_record *r)
{
	printf("PathRecord dump:\n\t\tservice_id..............0x%016" PRIx64 "\n", r->service_id);
	print_gid("dgid....................", r->dgid);
	print_gid("sgid....................", r->sgid);
	printf(
	    "\t\tdlid....................%u\n\t\tslid....................%u\n", r->dlid, r->slid);
	printf("\t\traw.....................%u\n\t\tflow....................%u\n", r->raw_traffic,
	    r->flow_label);
	printf("\t\thop.....................%u\n\t\ttclass..................%u\n", r->hop_limit,
	    r->tclass);
	printf("\t\treversible..............%u\n\t\tnum_path................%u\n", r->reversible,
	    r->n_paths);
	printf("\t\tpkey....................0x%04x\n\t\tqos_class...............%u\n", r->pkey,
	    r->qos_class);
	printf("\t\tsl......................%u\n", r->sl);
	printf("\t\tmtu.....................%u %u\n\t\trate....................%u %u\n",
	    r->mtu_selector, r->mtu, r->rate_selector, r->rate);
	printf("\t\tpkt_life................%u %u\n\t\tpreference..............%u\n",
	    r->life_selector, r->life, r->preference);
}

static void
print_trace(const struct sa_trace_record *r)
{
	printf("TraceRecord dump:\n\t\ttype....................%u\n", r->node_type);
	printf("\t\tnode....................0x%016" PRIx64 "\n", r->node_id);
	printf("\t\tports...................%u %u\n", r->entry_port, r->exit_port);
}

static int
print_answer(const struct umad_message *m)
{
	const struct sa_record *record;
	struct sa_header h;
	union sa_any any;
	size_t step;

	sa_header_get(m->bytes, &h);
	if (h.status != 0) {
		printf("status 0x%04x: %s\n", h.status,
		    sa_status_words(h.status) != NULL ? sa_status_words(h.status) : "?");
		return 0;
	}
	record = sa_record_of(h.attr);
	step = h.method == SA_GET_RESP ? SA_DATA_BYTES : 8u * h.attr_words;
	if (record == NULL || (record->attr != SA_PATH_RECORD && record->attr != SA_TRACE_RECORD))
		return fail("what comes back is no path");
	for (size_t at = SA_DATA_AT; step > 0 && at + record->bytes <= m->n_bytes; at += step) {
		sa_record_get(record, m->bytes + at, &any);
		if (record->attr == SA_PATH_RECORD)
			print_path(&any.path);
		else
			print_trace(&any.trace);
	}
	return 0;
}

int
main(int argc, char **argv)
{
	static const struct umad_agent_class class = {
		.mgmt_class = WIRE_CLASS_SA, .class_version = SA_CLASS_VERSION, .rmpp = true
	};
	uint8_t mad[SA_DATA_AT + SA_MULTI_PATH_GIDS_AT + 32 * GIDS_MAX + WIRE_MAD_BYTES] = { 0 };
	struct mad_addr to = { .qpn = 1, .qkey = GSI_QKEY };
	static struct question q;
	struct fm_error err = { 0 };
	struct umad_message m;
	struct umad_agent *a;
	size_t n;
	int rc;

	if (argc < 3 || !read_question(&q, argc - 2, argv + 2))
		return fail("usage: sa_ask SM_LID get|table|multi|trace [KEY=VALUE...]");
	to.lid = (uint16_t)strtoul(argv[1], NULL, 0);
	n = compose(&q, mad);
	if (umad_agent_open("umad", &class, &a, &err) != 0 ||
	    umad_agent_send(a, &to, mad, n, TIMEOUT_MS, 0, &err) != 0)
		return fail(err.msg);
	if (umad_agent_receive(a, TIMEOUT_MS, &m) != 1 || m.status != 0) {
		puts("timed out");
		return 1;
	}
	rc = print_answer(&m);
	umad_agent_close(a);
	return rc;
}
