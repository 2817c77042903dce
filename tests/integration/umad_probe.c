/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * umad_probe - walk a fabric through a umad transport and ask it many things:
 * a test of core/mad on whatever libibumad finds (ibsim), and a measure.
 *
 *	umad_probe [window [requests]]
 *
 * Prints "nodes=N links=N answered=N sent=N smps_per_s=N window=N" and, in a
 * second line, what became of the checks.  Exit 0 if all held.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mad/transact.h"
#include "core/wire/wire.h"
#include "lib/hash.h"
#include "lib/log.h"
#include "lib/vec.h"

struct probe {
	struct transport *transport;
	struct txn_engine *engine;
	struct fm_hash seen; /* node GUID -> index in nodes */
	FM_VEC(struct place *) nodes;
	unsigned n_links, n_failed, n_answered;
	unsigned n_left; /* of the load */
};

struct place {
	struct probe *probe;
	struct smp_route route;
	uint64_t guid;
};

static volatile sig_atomic_t stop_asked;

static void
on_signal(int signal_number)
{
	stop_asked = 1;
}

static bool
should_stop(void *arg)
{
	return stop_asked != 0;
}

static void arrive(struct probe *p, const struct smp_route *route, uint8_t through);

static void
port_info_done(void *arg, enum txn_status status, const uint8_t *reply)
{
	struct place *at = arg;
	struct wire_port_info info;
	uint32_t port;

	if (status != TXN_OK) {
		at->probe->n_failed++;
		return;
	}
	port = wire_get32(reply + 20);
	wire_port_info_get(reply + WIRE_SMP_DATA_AT, &info);
	if (port == 0 || info.port_state < WIRE_PORT_INIT)
		return;
	at->probe->n_links++;
	arrive(at->probe, &at->route, (uint8_t)port);
}

/* A CA is asked about the port we came in by only: its others lead elsewhere. */
static void
node_info_done(void *arg, enum txn_status status, const uint8_t *reply)
{
	struct place *at = arg;
	struct probe *p = at->probe;
	struct wire_node_info info;

	if (status != TXN_OK) {
		p->n_failed++;
		free(at);
		return;
	}
	wire_node_info_get(reply + WIRE_SMP_DATA_AT, &info);
	if (fm_hash_find(&p->seen, info.node_guid) != FM_HASH_NONE) {
		free(at);
		return;
	}
	at->guid = info.node_guid;
	fm_hash_put(&p->seen, info.node_guid, (uint32_t)p->nodes.n);
	if (!fm_vec_push(&p->nodes, at))
		abort();
	if (info.node_type != WIRE_NODE_SWITCH && at->route.n_hops > 0)
		return;
	for (uint32_t port = 1; port <= info.n_ports; port++)
		if (info.node_type == WIRE_NODE_SWITCH || port == info.local_port)
			txn_smp(p->engine, &at->route, WIRE_GET, WIRE_ATTR_PORT_INFO, port, NULL,
			    info.node_guid, port_info_done, at);
}

/* Ask who is behind `through` of the node that route leads to (0: the local node). */
static void
arrive(struct probe *p, const struct smp_route *route, uint8_t through)
{
	struct place *at = calloc(1, sizeof(*at));

	if (at == NULL)
		abort();
	at->probe = p;
	at->route = *route;
	if (through != 0)
		at->route.path[++at->route.n_hops] = through;
	txn_smp(
	    p->engine, &at->route, WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL, 0, node_info_done, at);
}

static void
load_done(void *arg, enum txn_status status, const uint8_t *reply)
{
	struct probe *p = arg;
	const struct place *at;

	if (status == TXN_OK)
		p->n_answered++;
	else
		p->n_failed++;
	if (p->n_left == 0)
		return;
	at = p->nodes.item[p->n_left-- % p->nodes.n];
	txn_smp(p->engine, &at->route, WIRE_GET, WIRE_ATTR_NODE_INFO, 0, NULL, 0, load_done, p);
}

static int
drain(struct probe *p)
{
	struct fm_error err;

	if (txn_drain(p->engine, should_stop, NULL, &err) == 0)
		return 0;
	fprintf(stderr, "umad_probe: %s\n", err.msg);
	return -1;
}

static int
measure(struct probe *p, unsigned n_requests)
{
	int64_t start = p->transport->ops->now_ns(p->transport), took;
	unsigned n_first = n_requests < 512 ? n_requests : 512;

	p->n_left = n_requests;
	for (unsigned i = 0; i < n_first; i++) {
		p->n_left--;
		txn_smp(p->engine, &p->nodes.item[i % p->nodes.n]->route, WIRE_GET,
		    WIRE_ATTR_NODE_INFO, 0, NULL, 0, load_done, p);
	}
	if (drain(p) != 0)
		return -1;
	took = p->transport->ops->now_ns(p->transport) - start;
	printf("nodes=%zu links=%u answered=%u sent=%" PRIu64 " smps_per_s=%.0f window=%u\n",
	    p->nodes.n, p->n_links, p->n_answered, txn_counts(p->engine)->sent,
	    (double)p->n_answered * 1e9 / (double)took, txn_window(p->engine));
	return 0;
}

static int
run(struct probe *p, unsigned n_requests)
{
	struct smp_route here = { .directed = true };
	struct local_port port;
	struct fm_error err;

	if (p->transport->ops->local_port(p->transport, &port, &err) != 0 ||
	    p->transport->ops->set_is_sm(p->transport, true, &err) != 0) {
		fprintf(stderr, "umad_probe: %s\n", err.msg);
		return -1;
	}
	arrive(p, &here, 0);
	if (drain(p) != 0 || p->nodes.n == 0)
		return -1;
	if (p->nodes.item[0]->guid != port.node_guid) {
		fprintf(stderr, "umad_probe: the local node is not that of %s\n", port.name);
		return -1;
	}
	if (measure(p, n_requests) != 0)
		return -1;
	printf("failed=%u forged=%" PRIu64 " duplicates=%" PRIu64 " late=%" PRIu64 "\n",
	    p->n_failed, txn_counts(p->engine)->forged, txn_counts(p->engine)->duplicates,
	    txn_counts(p->engine)->late);
	return p->n_failed ? -1 : 0;
}

int
main(int argc, char **argv)
{
	struct txn_limits limits = {
		.timeout_ms = 200, .n_retries = 8, .window_max = 128, .per_node_max = 8
	};
	struct probe p = { 0 };
	struct fm_error err;
	int rc;

	signal(SIGTERM, on_signal);
	signal(SIGINT, on_signal);
	if (argc > 1)
		limits.window_max = (uint16_t)strtoul(argv[1], NULL, 10);
	if (transport_open_umad("umad", &p.transport, &err) != 0) {
		fprintf(stderr, "umad_probe: %s\n", err.msg);
		return EXIT_FAILURE;
	}
	p.engine = txn_new(p.transport, &limits, 0);
	if (p.engine == NULL)
		abort();
	rc = run(&p, argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 2000);
	txn_free(p.engine);
	p.transport->ops->close(p.transport);
	for (size_t i = 0; i < p.nodes.n; i++)
		free(p.nodes.item[i]);
	fm_vec_fini(&p.nodes);
	fm_hash_fini(&p.seen);
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
