/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf/reader/asker.h"

#include <stdlib.h>
#include <string.h>

#include "core/wire/wire.h"
#include "lib/hash.h"
#include "lib/vec.h"
#include "perf/health/judge.h"
#include "perf/reader/meaning.h"
#include "perf/reader/pma.h"

#define NO_AGENT UINT32_MAX
#define FIRST_TIMEOUT_MS 200
#define LEAST_TIMEOUT_MS 100
#define MOST_TIMEOUT_MS 1000
#define ROUND_TRIPS 8 /* that an answer may take */
#define MOST_REDIRECTS 3
#define MOST_FAILED 2
#define SPEEDS_MS 3600000
#define FIRST_SPEEDS 30 /* sweeps within which a port is asked for them for the first time */
#define MS_PER_HOUR 3600000
#define TID_SLOT 0xff

struct agent {
	struct mad_addr home, at; /* at: where it is asked, perhaps redirected */
	struct pma_info info;
	struct pma_reading now; /* of the port that it is asked for */
	uint32_t node, first_row;
	uint32_t left;	      /* ports of this sweep, that one among them */
	uint64_t asleep_till; /* sweep before which it is not asked */
	uint8_t first_port, n_ports;
	uint8_t cursor; /* the port that is asked for: first_port + cursor */
	uint8_t attr;	/* enum pma_attr that is asked for; PMA_ATTRS: the port is done */
	uint8_t n_tries, n_failed, n_redirects;
	bool knows_info, no_speeds;
	bool is_ready;	/* it stands in the line */
	bool was_heard; /* in this sweep */
	bool refuses;
};

struct slot {
	uint32_t agent; /* NO_AGENT: it is free */
	uint32_t tid;
	int64_t sent_ms, due_ms;
};

struct port {
	struct meaning meaning;
	uint64_t read_in;  /* sweep; 0: never */
	int64_t read_ms;   /* by the caller's clock */
	bool is_wanted;	   /* in this sweep */
	bool speeds_moved; /* PortExtendedSpeedsCounters have, when last read */
};

/* A port that the fabric does not have now. */
struct gone {
	uint64_t guid;
	uint32_t number;
	struct port port;
	struct book_port row;
};

struct asker {
	const struct topology *t;
	struct book *book;
	struct agent *agent; /* [n_agents] */
	struct port *port;   /* [n_ports of t] */
	uint32_t *line;	     /* [n_agents] a ring of those that are ready */
	uint32_t n_agents, head, n_line;
	struct slot slot[ASKER_SLOTS];
	uint32_t n_out; /* slots in use */
	uint32_t next_tid;
	uint32_t n_left; /* ports */
	uint64_t sweep;
	uint32_t interval_ms;
	int64_t timeout_ms;
	struct fm_hash by_port; /* GUID and port -> row, for who comes after us */
	FM_VEC(struct gone) gone;
	struct fm_hash by_gone; /* GUID and port -> place in gone */
	struct judge *judge;	/* NULL: nobody hears */
	struct asker_counts counts;
};

/* ------------------------------------------------------------------- agents */

static uint64_t
port_key(uint64_t guid, uint32_t port)
{
	return fm_mix64(guid) + port;
}

static bool
is_asked(const struct topology *t, const struct book_node *n, uint32_t port)
{
	const struct topology_port *p = &t->ports[n->first_port + port - 1];

	return p->is_cabled && (n->type == WIRE_NODE_SWITCH || (p->is_active && p->lid != 0));
}

static void
add_agent(struct asker *a, uint32_t node, uint8_t first_port, uint8_t n_ports)
{
	uint32_t row = a->t->nodes[node].first_port + first_port - 1;
	struct agent *agent = &a->agent[a->n_agents++];

	agent->home =
	    (struct mad_addr){ .lid = a->t->ports[row].lid, .qpn = PMA_QP, .qkey = PMA_QKEY };
	agent->at = agent->home;
	agent->node = node;
	agent->first_row = row;
	agent->first_port = first_port;
	agent->n_ports = n_ports;
}

static void
add_agents(struct asker *a)
{
	for (uint32_t i = 0; i < a->t->n_nodes; i++) {
		const struct book_node *n = &a->t->nodes[i];

		if (n->type == WIRE_NODE_SWITCH) {
			if (n->n_ports > 0 && a->t->ports[n->first_port].lid != 0)
				add_agent(a, i, 1, (uint8_t)n->n_ports);
			continue;
		}
		for (uint32_t port = 1; port <= n->n_ports; port++)
			if (is_asked(a->t, n, port))
				add_agent(a, i, (uint8_t)port, 1);
	}
}

/* What was known of an agent at this place before. */
static void
inherit_agent(struct agent *agent, const struct agent *was)
{
	if (agent->home.lid != was->home.lid || agent->n_ports != was->n_ports)
		return;
	agent->at = was->at;
	agent->info = was->info;
	agent->asleep_till = was->asleep_till;
	agent->cursor = was->cursor;
	agent->knows_info = was->knows_info;
	agent->no_speeds = was->no_speeds;
}

static void
inherit_reading(struct port *port, const struct port *was)
{
	port->meaning = was->meaning;
	port->read_in = was->read_in;
	port->read_ms = was->read_ms;
	port->speeds_moved = was->speeds_moved;
}

/* Sums, and what they rest on; the other end is that of now. */
static void
inherit_port(
    struct asker *a, uint32_t row, const struct asker *before, uint64_t key, struct book_port *p)
{
	uint32_t was = fm_hash_find(&before->by_port, key);

	if (was != FM_HASH_NONE) {
		inherit_reading(&a->port[row], &before->port[was]);
		book_see_port(before->book, was, p);
		return;
	}
	was = fm_hash_find(&before->by_gone, key);
	if (was == FM_HASH_NONE)
		return;
	inherit_reading(&a->port[row], &before->gone.item[was].port);
	*p = before->gone.item[was].row;
}

/* False: out of memory. */
static bool
keep_gone(struct asker *a, const struct gone *g)
{
	uint64_t key = port_key(g->guid, g->number);

	return fm_hash_find(&a->by_port, key) != FM_HASH_NONE ||
	    (fm_vec_push(&a->gone, *g) && fm_hash_put(&a->by_gone, key, (uint32_t)a->gone.n - 1));
}

/* What was read, and is not in the fabric any more. */
static bool
keep_all_gone(struct asker *a, const struct asker *before)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < before->t->n_nodes; i++) {
		const struct book_node *n = &before->t->nodes[i];

		for (uint32_t port = 1; ok && port <= n->n_ports; port++) {
			struct gone g = { .guid = n->guid, .number = port };

			g.port = before->port[n->first_port + port - 1];
			book_see_port(before->book, n->first_port + port - 1, &g.row);
			ok = g.port.read_in == 0 || keep_gone(a, &g);
		}
	}
	for (size_t i = 0; ok && i < before->gone.n; i++)
		ok = before->gone.item[i].port.read_in + ASKER_KEPT_SWEEPS < before->sweep ||
		    keep_gone(a, &before->gone.item[i]);
	return ok;
}

static bool
fill_node(struct asker *a, uint32_t node, const struct asker *before)
{
	const struct book_node *n = &a->t->nodes[node];

	for (uint32_t port = 1; port <= n->n_ports; port++) {
		uint32_t row = n->first_port + port - 1;
		uint64_t key = port_key(n->guid, port);
		const struct topology_port *how = &a->t->ports[row];
		struct book_port p = { .flags = BOOK_NEVER | BOOK_MISSING };

		if (!fm_hash_put(&a->by_port, key, row))
			return false;
		if (before != NULL)
			inherit_port(a, row, before, key, &p);
		p.peer = how->peer;
		p.peer_port = how->peer_port;
		p.mbps = how->mbps;
		p.planned = how->planned;
		p.flags &= ~(uint32_t)BOOK_NO_CABLE;
		p.flags |= how->is_cabled ? 0 : BOOK_NO_CABLE;
		book_put_port(a->book, row, &p);
	}
	return true;
}

static bool
fill(struct asker *a, const struct asker *before)
{
	struct fm_hash by_row = { 0 }; /* of before: its first port -> agent */
	bool ok = true;

	for (uint32_t i = 0; ok && i < a->t->n_nodes; i++)
		ok = fill_node(a, i, before);
	ok = ok && (before == NULL || keep_all_gone(a, before));
	for (uint32_t i = 0; ok && before != NULL && i < before->n_agents; i++)
		ok = fm_hash_put(&by_row, before->agent[i].first_row, i);
	for (uint32_t i = 0; ok && before != NULL && i < a->n_agents; i++) {
		struct agent *agent = &a->agent[i];
		uint64_t key = port_key(a->t->nodes[agent->node].guid, agent->first_port);
		uint32_t row = fm_hash_find(&before->by_port, key);
		uint32_t was = row != FM_HASH_NONE ? fm_hash_find(&by_row, row) : FM_HASH_NONE;

		if (was != FM_HASH_NONE)
			inherit_agent(agent, &before->agent[was]);
	}
	fm_hash_fini(&by_row);
	return ok;
}

void
asker_free(struct asker *a)
{
	if (a == NULL)
		return;
	fm_hash_fini(&a->by_port);
	fm_hash_fini(&a->by_gone);
	fm_vec_fini(&a->gone);
	free(a->agent);
	free(a->port);
	free(a->line);
	free(a);
}

int
asker_new(const struct topology *t, struct book *book, const struct asker *before,
    struct asker **out, struct fm_error *err)
{
	size_t n = (size_t)t->n_ports + 1;
	struct asker *a = calloc(1, sizeof(*a));

	if (a != NULL) {
		a->t = t;
		a->book = book;
		a->timeout_ms = before != NULL ? before->timeout_ms : FIRST_TIMEOUT_MS;
		a->next_tid = before != NULL ? before->next_tid : 0;
		a->agent = calloc(n, sizeof(*a->agent));
		a->port = calloc(n, sizeof(*a->port));
		a->line = calloc(n, sizeof(*a->line));
	}
	if (a == NULL || a->agent == NULL || a->port == NULL || a->line == NULL) {
		asker_free(a);
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the ports");
	}
	for (int i = 0; i < ASKER_SLOTS; i++)
		a->slot[i].agent = NO_AGENT;
	add_agents(a);
	if (!fill(a, before)) {
		asker_free(a);
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the ports");
	}
	*out = a;
	return 0;
}

/* ----------------------------------------------------------- what is asked next */

static uint32_t
row_of(const struct agent *agent)
{
	return agent->first_row + agent->cursor;
}

static void
stand_in_line(struct asker *a, struct agent *agent)
{
	if (agent->is_ready)
		return;
	agent->is_ready = true;
	a->line[(a->head + a->n_line++) % a->n_agents] = (uint32_t)(agent - a->agent);
}

/* Not of all ports in the same sweep. */
static bool
wants_speeds(const struct asker *a, const struct agent *agent)
{
	const struct port *port = &a->port[row_of(agent)];
	bool is_known = port->meaning.bits[COUNTER_SYNC_HEADER] != 0;
	uint64_t every = is_known ? SPEEDS_MS / a->interval_ms : FIRST_SPEEDS;

	return !agent->no_speeds &&
	    (port->speeds_moved || every == 0 || (a->sweep + row_of(agent)) % every == 0);
}

/* The first question of a port. */
static void
begin_port(struct agent *agent)
{
	agent->now = (struct pma_reading){ 0 };
	agent->n_tries = 0;
	agent->attr = !agent->knows_info ? PMA_CLASS_PORT_INFO
	    : agent->info.has_64	 ? PMA_EXTENDED
					 : PMA_PORT_COUNTERS;
}

/* The next port of the sweep, the one that is asked for no longer among them. */
static void
next_port(struct asker *a, struct agent *agent)
{
	agent->left--;
	a->n_left--;
	a->port[row_of(agent)].is_wanted = false;
	while (agent->left > 0 && !a->port[row_of(agent)].is_wanted)
		agent->cursor = (uint8_t)((agent->cursor + 1u) % agent->n_ports);
	if (agent->left > 0)
		begin_port(agent);
}

/* Nothing more of it in this sweep: the rest is missing. */
static void
give_up(struct asker *a, struct agent *agent)
{
	a->n_left -= agent->left;
	agent->left = 0;
	if (!agent->was_heard) {
		agent->asleep_till = a->sweep + ASKER_SILENT_SWEEPS;
		agent->knows_info = false; /* who comes back may be another one */
		agent->at = agent->home;
	}
}

void
asker_begin(struct asker *a, uint64_t sweep, int64_t now_ms, uint32_t interval_ms)
{
	(void)now_ms;
	a->sweep = sweep;
	a->interval_ms = interval_ms > 0 ? interval_ms : 1;
	a->counts = (struct asker_counts){ 0 };
	for (uint32_t i = 0; i < a->n_agents; i++) {
		struct agent *agent = &a->agent[i];
		const struct book_node *n = &a->t->nodes[agent->node];

		agent->left = 0;
		agent->n_failed = agent->n_redirects = 0;
		agent->was_heard = agent->refuses = false;
		for (uint8_t k = 0; k < agent->n_ports; k++) {
			bool is_wanted = is_asked(a->t, n, agent->first_port + k);

			a->port[agent->first_row + k].is_wanted = is_wanted;
			agent->left += is_wanted;
		}
		a->counts.n_wanted += agent->left;
		if (agent->asleep_till > sweep)
			agent->left = 0;
		a->n_left += agent->left;
		if (agent->left == 0)
			continue;
		while (!a->port[row_of(agent)].is_wanted)
			agent->cursor = (uint8_t)((agent->cursor + 1u) % agent->n_ports);
		begin_port(agent);
		stand_in_line(a, agent);
	}
}

static struct slot *
free_slot(struct asker *a)
{
	if (a->n_out == ASKER_SLOTS)
		return NULL;
	for (uint32_t i = 0; i < ASKER_SLOTS; i++) {
		struct slot *s = &a->slot[(a->next_tid + i) % ASKER_SLOTS];

		if (s->agent == NO_AGENT)
			return s;
	}
	return NULL;
}

bool
asker_next(struct asker *a, int64_t now_ms, struct asker_request *r)
{
	struct slot *s = a->n_line > 0 ? free_slot(a) : NULL;
	struct agent *agent;

	if (s == NULL)
		return false;
	agent = &a->agent[a->line[a->head]];
	agent->is_ready = false;
	a->head = (a->head + 1) % a->n_agents;
	a->n_line--;
	a->next_tid++;
	*s = (struct slot){ .agent = (uint32_t)(agent - a->agent),
		.tid = a->next_tid << 8 | (uint32_t)(s - a->slot),
		.sent_ms = now_ms,
		.due_ms = now_ms + a->timeout_ms };
	a->n_out++;
	a->counts.n_sent++;
	pma_get(r->bytes, agent->attr, (uint8_t)(agent->first_port + agent->cursor), s->tid);
	r->to = agent->at;
	r->timeout_ms = (uint32_t)a->timeout_ms;
	return true;
}

/* ------------------------------------------------------------------ what is read */

static uint64_t
per(uint64_t n, uint64_t ms, uint64_t span_ms)
{
	return (uint64_t)((double)n * (double)ms / (double)span_ms);
}

static void
put_rates(struct book_port *p, const struct meaning_news *news, int64_t span_ms)
{
	uint64_t errors = 0;

	p->span_ms = span_ms > 0 && span_ms <= UINT32_MAX ? (uint32_t)span_ms : 0;
	if (p->span_ms == 0)
		return;
	for (enum counter c = 0; c < N_COUNTERS; c++)
		errors += counter_is_error(c) ? news->added[c] : 0;
	p->xmit_rate = per(4 * news->added[COUNTER_XMIT_DATA], 1000, p->span_ms);
	p->rcv_rate = per(4 * news->added[COUNTER_RCV_DATA], 1000, p->span_ms);
	p->wait_rate = per(news->added[COUNTER_XMIT_WAIT], 1000, p->span_ms);
	p->error_rate = per(errors, MS_PER_HOUR, p->span_ms);
}

static bool
has_moved(const struct meaning_news *news)
{
	for (enum counter c = COUNTER_SYNC_HEADER; c <= COUNTER_FEC_SYMBOLS; c++)
		if (news->added[c] > 0)
			return true;
	return false;
}

/* What a port has added, to who judges its cable. */
static void
tell_judge(
    struct asker *a, const struct agent *agent, const struct meaning_news *news, int64_t span_ms)
{
	const struct topology *t = a->t;
	const struct topology_port *how = &t->ports[row_of(agent)];
	const struct book_node *n = &t->nodes[agent->node], *far;

	if (a->judge == NULL || how->peer == BOOK_NOBODY)
		return;
	far = &t->nodes[how->peer];
	judge_hear(a->judge,
	    &(struct health_reading){ .at = { n->guid, (uint8_t)(agent->first_port + agent->cursor),
					  n->type != WIRE_NODE_SWITCH },
		.far = { far->guid, how->peer_port, far->type != WIRE_NODE_SWITCH },
		.added = news->added,
		.at_end = news->at_end,
		.was_reset = news->was_reset,
		.far_is_silent = a->port[far->first_port + how->peer_port - 1].read_in == 0,
		.span_ms = span_ms });
}

void
asker_set_judge(struct asker *a, struct judge *j)
{
	a->judge = j;
}

/* All of a port has been read: into the book. */
static void
take_port(struct asker *a, struct agent *agent, int64_t now_ms, int64_t utc_ms)
{
	uint32_t row = row_of(agent);
	struct port *port = &a->port[row];
	int64_t span_ms = port->read_in != 0 ? now_ms - port->read_ms : 0;
	struct meaning_news news;
	struct book_port p;

	meaning_take(&port->meaning, &agent->now, &news);
	book_see_port(a->book, row, &p);
	for (enum counter c = 0; c < N_COUNTERS; c++)
		p.sum[c] += news.added[c];
	p.at_end |= news.at_end;
	p.unread = 0;
	for (enum counter c = 0; c < N_COUNTERS; c++)
		p.unread |= port->meaning.bits[c] == 0 ? 1u << c : 0;
	p.flags &= ~(uint32_t)(BOOK_MISSING | BOOK_NEVER);
	p.flags |= news.was_reset ? BOOK_RESET : 0;
	put_rates(&p, &news, span_ms);
	tell_judge(a, agent, &news, span_ms);
	p.read_ms = utc_ms;
	book_begin(a->book, agent->node);
	book_put_port(a->book, row, &p);
	book_end(a->book, agent->node);
	if ((agent->now.has >> COUNTER_SYNC_HEADER & 1) != 0)
		port->speeds_moved = has_moved(&news);
	port->read_in = a->sweep;
	port->read_ms = now_ms;
	a->counts.n_read++;
	a->counts.n_at_end += p.at_end != 0;
	if (news.was_reset)
		agent->knows_info = false; /* perhaps it was booted, with another firmware */
}

/* What is read before stays: 64 bits go before 32. */
static void
merge(struct pma_reading *now, const struct pma_reading *r)
{
	for (enum counter c = 0; c < N_COUNTERS; c++) {
		if ((r->has >> c & 1) == 0 || (now->has >> c & 1) != 0)
			continue;
		now->value[c] = r->value[c];
		now->bits[c] = r->bits[c];
		now->has |= 1u << c;
		now->at_end |= r->at_end & 1u << c;
	}
}

/* The question after the one that was answered, of the same port; PMA_ATTRS: none. */
static enum pma_attr
attr_after(const struct asker *a, const struct agent *agent, enum pma_attr attr)
{
	if (attr == PMA_EXTENDED && !agent->info.has_errors_64)
		return PMA_PORT_COUNTERS;
	if (attr != PMA_SPEEDS && wants_speeds(a, agent))
		return PMA_SPEEDS;
	return PMA_ATTRS;
}

/* On with the agent: the next question of its port, or its next port. */
static void
go_on(struct asker *a, struct agent *agent, enum pma_attr next, int64_t now_ms, int64_t utc_ms)
{
	agent->attr = (uint8_t)next;
	agent->n_tries = 0;
	if (next == PMA_ATTRS) {
		take_port(a, agent, now_ms, utc_ms);
		next_port(a, agent);
	}
	if (agent->left > 0)
		stand_in_line(a, agent);
}

/* A port that its agent gives nothing of. */
static void
pass_port(struct asker *a, struct agent *agent)
{
	agent->refuses = true;
	next_port(a, agent);
	if (agent->left > 0)
		stand_in_line(a, agent);
}

/* ------------------------------------------------------------------ answers */

/* It is to be asked elsewhere: from there on, beginning with what it is. */
static void
redirect(struct asker *a, struct agent *agent, const struct mad_addr *to)
{
	if (to->lid == 0 || to->lid >= 0xc000 || to->qpn == 0 ||
	    agent->n_redirects++ == MOST_REDIRECTS) {
		agent->refuses = true;
		give_up(a, agent);
		return;
	}
	agent->at = *to;
	agent->knows_info = false;
	begin_port(agent);
	stand_in_line(a, agent);
}

static bool
leads_elsewhere(const struct agent *agent, const struct pma_info *info)
{
	return info->redirects && (info->to.lid != agent->at.lid || info->to.qpn != agent->at.qpn);
}

static void
hear_info(
    struct asker *a, struct agent *agent, const struct pma_answer *answer, const uint8_t *bytes)
{
	struct pma_info info = { 0 }; /* of one that does not say: the least */

	if (answer->status == 0 || (answer->status & PMA_STATUS_REDIRECT) != 0)
		pma_parse_info(bytes, &info);
	if (leads_elsewhere(agent, &info)) {
		redirect(a, agent, &info.to);
		return;
	}
	agent->info = info;
	agent->knows_info = true;
	begin_port(agent);
	stand_in_line(a, agent);
}

/* An attribute that it does not give, though it should: without it, if there is another. */
static void
hear_refusal(struct asker *a, struct agent *agent, int64_t now_ms, int64_t utc_ms)
{
	if (agent->attr == PMA_EXTENDED) {
		agent->info.has_64 = agent->info.has_errors_64 = false;
		begin_port(agent);
		stand_in_line(a, agent);
	} else if (agent->attr == PMA_SPEEDS) {
		agent->no_speeds = true;
		go_on(a, agent, PMA_ATTRS, now_ms, utc_ms);
	} else {
		pass_port(a, agent);
	}
}

static void
hear_counters(
    struct asker *a, struct agent *agent, const uint8_t *bytes, int64_t now_ms, int64_t utc_ms)
{
	struct pma_reading r;

	pma_parse_counters(bytes, agent->attr, &agent->info, &r);
	merge(&agent->now, &r);
	go_on(a, agent, attr_after(a, agent, agent->attr), now_ms, utc_ms);
}

/* The try was for nothing: another one, or the next port, or nothing more of this agent. */
static void
lose(struct asker *a, struct agent *agent)
{
	a->counts.n_lost++;
	if (agent->left == 0)
		return;
	if (++agent->n_tries < ASKER_TRIES) {
		stand_in_line(a, agent);
		return;
	}
	if (++agent->n_failed == MOST_FAILED || agent->attr == PMA_CLASS_PORT_INFO ||
	    (agent->left == 1 && !agent->was_heard)) {
		give_up(a, agent);
		return;
	}
	next_port(a, agent);
	if (agent->left > 0)
		stand_in_line(a, agent);
}

static void
free_that(struct asker *a, struct slot *s)
{
	s->agent = NO_AGENT;
	a->n_out--;
}

/* The slot of the request that it answers; NULL: none. */
static struct slot *
slot_of(struct asker *a, uint16_t lid, const struct pma_answer *answer)
{
	struct slot *s = &a->slot[answer->tid & TID_SLOT];
	const struct agent *agent;

	if (s->agent == NO_AGENT || s->tid != answer->tid)
		return NULL;
	agent = &a->agent[s->agent];
	return lid == agent->at.lid ? s : NULL;
}

static bool
answers_question(const struct agent *agent, const struct pma_answer *answer)
{
	return answer->attr == agent->attr &&
	    (answer->attr == PMA_CLASS_PORT_INFO ||
		answer->port == agent->first_port + agent->cursor);
}

/* Eight times what answers have taken, within bounds: a busy machine is no lossy one. */
static void
learn_timeout(struct asker *a, int64_t took_ms)
{
	int64_t wanted = ROUND_TRIPS * took_ms;

	a->timeout_ms += (wanted - a->timeout_ms) / (wanted > a->timeout_ms ? 2 : 32);
	if (a->timeout_ms < LEAST_TIMEOUT_MS)
		a->timeout_ms = LEAST_TIMEOUT_MS;
	if (a->timeout_ms > MOST_TIMEOUT_MS)
		a->timeout_ms = MOST_TIMEOUT_MS;
}

void
asker_hear(
    struct asker *a, uint16_t lid, const uint8_t *bytes, size_t n, int64_t now_ms, int64_t utc_ms)
{
	struct pma_answer answer;
	struct slot *s = pma_parse(bytes, n, &answer) ? slot_of(a, lid, &answer) : NULL;
	struct agent *agent;

	if (s == NULL) {
		a->counts.n_strange++;
		return;
	}
	agent = &a->agent[s->agent];
	learn_timeout(a, now_ms - s->sent_ms);
	free_that(a, s);
	agent->was_heard = true;
	if (agent->left == 0)
		return;
	if ((answer.status & WIRE_STATUS_BUSY) != 0) {
		lose(a, agent);
		return;
	}
	agent->n_failed = 0;
	if ((answer.status & PMA_STATUS_REDIRECT) != 0 || agent->attr == PMA_CLASS_PORT_INFO)
		hear_info(a, agent, &answer, bytes);
	else if (answer.status != 0)
		hear_refusal(a, agent, now_ms, utc_ms);
	else if (!answers_question(agent, &answer))
		pass_port(a, agent);
	else
		hear_counters(a, agent, bytes, now_ms, utc_ms);
}

void
asker_expire(struct asker *a, int64_t now_ms)
{
	for (uint32_t i = 0; a->n_out > 0 && i < ASKER_SLOTS; i++) {
		struct slot *s = &a->slot[i];
		struct agent *agent;

		if (s->agent == NO_AGENT || s->due_ms > now_ms)
			continue;
		agent = &a->agent[s->agent];
		free_that(a, s);
		lose(a, agent);
	}
}

uint32_t
asker_left(const struct asker *a)
{
	return 2 * a->n_left + (a->n_left == 0 ? a->n_out : 0);
}

/* ------------------------------------------------------------------- the end */

/* All that is under way is lost, and who stands in line goes home. */
static void
clear_line(struct asker *a)
{
	for (uint32_t i = 0; i < ASKER_SLOTS; i++)
		a->slot[i].agent = NO_AGENT;
	a->n_out = a->n_line = a->n_left = 0;
	for (uint32_t i = 0; i < a->n_agents; i++)
		a->agent[i].is_ready = false;
}

static void
mark_missing(struct asker *a, const struct agent *agent)
{
	const struct book_node *n = &a->t->nodes[agent->node];
	struct book_port p;

	for (uint8_t k = 0; k < agent->n_ports; k++) {
		uint32_t row = agent->first_row + k;

		if (a->port[row].read_in == a->sweep || !is_asked(a->t, n, agent->first_port + k))
			continue;
		book_see_port(a->book, row, &p);
		if ((p.flags & BOOK_MISSING) != 0)
			continue;
		p.flags |= BOOK_MISSING;
		book_begin(a->book, agent->node);
		book_put_port(a->book, row, &p);
		book_end(a->book, agent->node);
	}
}

static uint32_t
flags_of(const struct asker *a, const struct agent *agent)
{
	return (agent->asleep_till > a->sweep ? BOOK_SILENT : 0) |
	    (agent->knows_info && !agent->info.has_64 ? BOOK_NARROW : 0) |
	    (agent->at.lid != agent->home.lid ? BOOK_REDIRECTED : 0) |
	    (agent->refuses ? BOOK_REFUSES : 0);
}

/* The agents of a node stand together: its flags are those of all of them. */
void
asker_end(struct asker *a)
{
	uint32_t flags = 0;

	clear_line(a);
	for (uint32_t i = 0; i < a->n_agents; i++) {
		const struct agent *agent = &a->agent[i];

		mark_missing(a, agent);
		a->counts.n_silent += agent->asleep_till > a->sweep;
		a->counts.n_refusing += agent->refuses;
		flags |= flags_of(a, agent);
		if (i + 1 < a->n_agents && a->agent[i + 1].node == agent->node)
			continue;
		book_begin(a->book, agent->node);
		book_put_flags(a->book, agent->node, flags);
		book_end(a->book, agent->node);
		flags = 0;
	}
}

const struct asker_counts *
asker_counts(const struct asker *a)
{
	return &a->counts;
}
