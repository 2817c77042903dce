/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers to the questions of a sweep that are not what the nodes said: any attribute, over
 * several sweeps of every kind, with nodes that take the GUIDs of others, say another number of
 * ports, go and come between them.  Each sweep ends; and when all answers are true again and all is
 * as it was, so is the subnet, without a person.
 *
 * The input is a row of records of six bytes.  The first says what it is: a rule by which answers
 * are rewritten from now on, something that happens to a node, or a sweep.
 */
#include <string.h>

#include "core/wire/wire.h"
#include "tests/fuzz/house.h"

#define RECORD_BYTES 6
#define RULES_MAX 32
#define SWEEPS_MAX 6
#define EVENTS_MAX 12
#define N_NODES 5
#define NS_PER_MS INT64_C(1000000)
#define HEAL_SWEEPS 4

static const uint16_t attrs[] = { WIRE_ATTR_NODE_INFO, WIRE_ATTR_SWITCH_INFO, WIRE_ATTR_PORT_INFO,
	WIRE_ATTR_NODE_DESC, WIRE_ATTR_LFT, WIRE_ATTR_MFT, WIRE_ATTR_PKEY_TABLE, WIRE_ATTR_SL2VL,
	WIRE_ATTR_VL_ARB, WIRE_ATTR_GUID_INFO, WIRE_ATTR_SM_INFO, WIRE_ATTR_PORT_STATES };
#define N_ATTRS (sizeof(attrs) / sizeof(attrs[0]))

enum op { OP_BYTE, OP_XOR, OP_WORD, OP_FILL, OP_STATUS, OP_DROP, OP_EARLIER, OP_GUID, N_OPS };

/* "All" or the nth answer of this attribute in a sweep is changed so. */
struct rule {
	uint8_t attr, nth, op, at, value[2];
};

static struct {
	struct house h;
	void (*on_mad)(void *arg, const struct mad *m);
	void *on_mad_arg;
	struct rule rules[RULES_MAX];
	unsigned n_rules;
	unsigned n_answers[N_ATTRS];	 /* in this sweep */
	uint8_t earlier[N_ATTRS][4][64]; /* true answers, the last of them */
	uint64_t guid[N_NODES];		 /* that are theirs */
	uint8_t n_ports[N_NODES];
	unsigned n_sweeps, n_events;
} f;

/* False: it is lost. */
static bool
rewrite(const struct rule *r, unsigned attr, struct mad *m)
{
	uint8_t *data = m->bytes + WIRE_SMP_DATA_AT;
	unsigned at = r->at % 64;

	switch (r->op % N_OPS) {
	case OP_BYTE:
		data[at] = r->value[0];
		break;
	case OP_XOR:
		data[at] ^= r->value[0];
		break;
	case OP_WORD:
		data[at] = r->value[0];
		data[(at + 1) % 64] = r->value[1];
		break;
	case OP_FILL:
		memset(data + at, r->value[0], 64 - at);
		break;
	case OP_STATUS:
		m->bytes[5] = r->value[0] & 0x1f;
		break;
	case OP_DROP:
		return false;
	case OP_EARLIER:
		memcpy(data, f.earlier[attr][r->value[0] % 4], 64);
		break;
	default: /* OP_GUID: of NodeInfo, of node or port */
		for (unsigned i = 0; i < 8; i++)
			data[(r->at % 2 == 0 ? 12 : 20) + i] =
			    (uint8_t)(f.guid[r->value[0] % N_NODES] >> (56 - 8 * i));
		break;
	}
	return true;
}

static void
hear(void *arg, const struct mad *m)
{
	struct mad changed = *m;
	struct wire_header h;
	bool lost = false;

	(void)arg;
	wire_header_get(m->bytes, &h);
	for (unsigned a = 0; a < N_ATTRS && h.method == WIRE_GET_RESP && m->status == 0; a++) {
		unsigned n = f.n_answers[a];

		if (h.attr != attrs[a])
			continue;
		f.n_answers[a]++;
		for (unsigned i = 0; i < f.n_rules; i++)
			if (f.rules[i].attr % N_ATTRS == a &&
			    (f.rules[i].nth == 255 || f.rules[i].nth == n))
				lost = !rewrite(&f.rules[i], a, &changed) || lost;
		memcpy(f.earlier[a][n % 4], m->bytes + WIRE_SMP_DATA_AT, 64);
	}
	if (!lost)
		f.on_mad(f.on_mad_arg, &changed);
}

static void
sweep(enum sweep_scope scope)
{
	memset(f.n_answers, 0, sizeof(f.n_answers));
	if (scope != SWEEP_NONE) /* else what traps have set off */
		sweeper_request(f.h.sweeper, scope, "fuzz");
	settle_for(&f.h, 30 * NS_PER_MS);
}

/* Something happens to a node; the first is ours. */
static void
happen(const uint8_t *r)
{
	struct sim *s = f.h.sim;
	uint32_t node = r[1] % N_NODES;
	unsigned port = 1 + r[2] % f.n_ports[node];

	switch (r[3] % 8) {
	case 0:
		sim_set_guid(s, node, f.guid[r[4] % N_NODES]);
		break;
	case 1:
		sim_claim_ports(s, node, r[4]);
		break;
	case 2:
		sim_reboot(s, node, NS_PER_MS);
		break;
	case 3:
		sim_unlink(s, node, port);
		break;
	case 4:
		sim_relink(s, node, port);
		break;
	case 5:
		sim_silence(s, node, r[4] & 1);
		break;
	case 6:
		sim_set_port_guid(
		    s, node, port, f.guid[r[4] % N_NODES] + (r[4] >= 128 ? r[5] & 3 : 0));
		break;
	default:
		sim_describe(s, node, "fuzz");
		break;
	}
}

static void
take_record(const uint8_t *r)
{
	switch (r[0] % 4) {
	case 0:
	case 1:
		if (f.n_rules < RULES_MAX)
			f.rules[f.n_rules++] =
			    (struct rule){ r[1], r[2], r[3], r[4], { r[5], r[0] >> 2 } };
		break;
	case 2:
		if (f.n_events++ < EVENTS_MAX)
			happen(r);
		break;
	default:
		if (f.n_sweeps++ < SWEEPS_MAX)
			sweep(r[1] % 4 == 0	? SWEEP_NONE
				: r[1] % 4 == 1 ? SWEEP_LIGHT
				: r[1] % 4 == 2 ? SWEEP_NAMED
						: SWEEP_HEAVY);
		if (r[2] & 1)
			f.n_rules = 0;
		break;
	}
}

static void
begin(void)
{
	const struct sim_fabric *fabric;

	memset(&f, 0, sizeof(f));
	move_in(&f.h);
	fabric = sim_fabric(f.h.sim);
	must(fabric->n_nodes == N_NODES);
	for (uint32_t i = 0; i < N_NODES; i++) {
		f.guid[i] = fabric->nodes[i].guid;
		f.n_ports[i] = fabric->nodes[i].n_ports;
	}
	f.on_mad = f.h.transport->on_mad;
	f.on_mad_arg = f.h.transport->on_mad_arg;
	f.h.transport->on_mad = hear;
}

/* All is as it was: a few sweeps, as the clock asks for them, and the subnet is whole. */
static void
heal(void)
{
	const struct sweep_report *r = sweeper_report(f.h.sweeper);

	f.n_rules = 0;
	for (uint32_t i = 0; i < N_NODES; i++) {
		const struct sim_fabric *fabric = sim_fabric(f.h.sim);

		sim_silence(f.h.sim, i, false);
		sim_set_guid(f.h.sim, i, f.guid[i]);
		sim_claim_ports(f.h.sim, i, f.n_ports[i]);
		for (unsigned p = 1; p <= f.n_ports[i]; p++) {
			sim_relink(f.h.sim, i, p);
			if (fabric->nodes[i].type != WIRE_NODE_SWITCH)
				sim_set_port_guid(f.h.sim, i, p, f.guid[i] + 100 + i);
		}
	}
	for (unsigned i = 0; i < HEAL_SWEEPS; i++) {
		sweep(SWEEP_LIGHT);
		sweep(SWEEP_HEAVY);
	}
	must(sweeper_is_up(f.h.sweeper));
	must(r->n_switches == 2 && r->n_cas == 3 && r->n_links == 4);
	must(r->n_troubles == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_be_quiet();
	begin();
	for (size_t at = 0; at + RECORD_BYTES <= size; at += RECORD_BYTES)
		take_record(data + at);
	heal();
	move_out(&f.h);
	return 0;
}
