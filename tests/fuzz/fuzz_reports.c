/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traps from anywhere, subscribers who answer, do not, or answer for others, groups and ports that
 * come and go, and time: nothing is passed on that nodes may not tell of, bounds hold, questions
 * are answered, and in the end nobody is owed anything.
 *
 * The input is a row of acts: a byte that says which, and six that say how.
 */
#include <string.h>

#include "core/registry/registry.h"
#include "core/sa/notices.h"
#include "core/wire/wire.h"
#include "tests/fuzz/house.h"

#define ACT_BYTES 7
#define ACTS_MAX 80
#define N_SENT 256
#define NS_PER_MS INT64_C(1000000)
#define TRAPS_IN_A_ROW 10
#define ROW_MS 3000

enum act { TRAP, RAW_TRAP, SUBSCRIBE, ANSWER, ASK, JOIN, CABLE, WAIT, N_ACTS };

static struct {
	struct house house;
	struct sa_slot slot;
	struct sa *sa;
	struct registry *registry;
	uint64_t n_traps;
	unsigned n_answers, n_at_once; /* Reports since the last tick */
	struct {
		uint16_t lid;
		uint64_t tid;
	} sent[N_SENT]; /* the last Reports */
	unsigned n_sent;
	bool cut;
} w;

static int64_t
now_ms(void)
{
	return sim_now_ns(w.house.sim) / NS_PER_MS;
}

static void
on_out(void *arg, const struct mad_addr *to, const uint8_t *bytes, size_t n_bytes)
{
	struct sa_header h;

	(void)arg;
	sa_header_get(bytes, &h);
	if (h.method != SA_REPORT) {
		w.n_answers++;
		return;
	}
	must(n_bytes == WIRE_MAD_BYTES && to->lid != 0 && to->qkey == 0x80010000);
	must(++w.n_at_once <= 256);
	w.sent[w.n_sent % N_SENT].lid = to->lid;
	w.sent[w.n_sent++ % N_SENT].tid = h.tid;
}

static void
on_passed_on(void *arg, const struct wire_notice *n)
{
	(void)arg;
	must(!n->generic || (n->trap_number >= 128 && n->producer_type != 4));
	must(n->issuer_lid != 0 && n->issuer_lid < 0xc000);
	sa_tell(w.sa, n, now_ms());
}

/* ------------------------------------------------------------------- the SA */

static void
publish(void)
{
	struct sa_settings set = { .gid_prefix = 0xfe80000000000000, .sa_key = 1 };
	struct sa_view *prev = sa_slot_get(&w.slot), *v = NULL;
	struct sa_view_source src = { .set = &set,
		.inv = sweeper_inventory(w.house.sweeper),
		.plan = (struct plan *)(uintptr_t)sweeper_plan(w.house.sweeper),
		.prev = prev };
	struct fm_error err = { 0 };

	must(sa_view_begin(&src, &v, &err) == 0 && sa_view_finish(v, prev, NULL, &err) == 0);
	sa_slot_set(&w.slot, v);
	sa_view_put(prev);
}

static int64_t
tick(void)
{
	int64_t due_ms;

	w.n_at_once = 0;
	due_ms = sa_tick(w.sa, now_ms());
	must(sa_counts(w.sa)->told.waiting <= REPORTS_MAX);
	return due_ms;
}

static void
request(uint16_t lid, uint8_t method, uint16_t attr, uint64_t mask, const void *record)
{
	struct sa_header h = { .base_version = 1,
		.mgmt_class = WIRE_CLASS_SA,
		.class_version = SA_CLASS_VERSION,
		.method = method,
		.attr = attr,
		.mask = mask };
	struct mad_addr from = { .lid = lid, .qpn = 1 };
	uint8_t mad[MAD_BYTES] = { 0 };

	sa_header_put(mad, &h);
	if (record != NULL)
		sa_record_put(sa_record_of(attr), mad + SA_DATA_AT, record);
	w.n_answers = 0;
	sa_handle(w.sa, &from, mad, sizeof(mad), now_ms());
	must(w.n_answers == 1);
}

static void
subscribe(const uint8_t *how)
{
	static const uint16_t numbers[] = { 64, 65, 66, 67, 128, 144, 256, 0xffff };
	struct sa_inform_info want = { .lid_begin = how[3] & 1 ? 0xffff : how[3] & 7,
		.lid_end = how[3] >> 3 & 7,
		.is_generic = how[1] >> 1 & 1,
		.subscribe = how[1] & 1,
		.type = 0xffff,
		.trap_number = numbers[how[2] & 7],
		.qpn = how[4],
		.producer_type = 0xffffff };

	for (unsigned n = how[5] & 0x40 ? 40 : 1; n > 0; n--, want.qpn++)
		request(how[0] & 7, SA_SET, SA_INFORM_INFO, 0, &want);
	must(registry_n_subscriptions(w.registry) <= 8 * 256);
}

static void
answer(const uint8_t *how)
{
	struct sa_header h = { .base_version = 1,
		.mgmt_class = WIRE_CLASS_SA,
		.class_version = SA_CLASS_VERSION,
		.method = SA_REPORT_RESP,
		.attr = SA_NOTICE };

	for (unsigned k = 0; k <= how[1]; k++) {
		unsigned i = (how[0] + k) % N_SENT;
		struct mad_addr from = { .lid = how[2] & 1 ? how[2] >> 1 & 7 : w.sent[i].lid,
			.qpn = 1 };
		uint8_t mad[MAD_BYTES] = { 0 };

		h.tid = w.sent[i].tid | (uint64_t)how[3] << 32;
		sa_header_put(mad, &h);
		sa_handle(w.sa, &from, mad, sizeof(mad), now_ms());
	}
	tick();
}

static void
join(const uint8_t *how)
{
	uint32_t end = sa_view_end_of_lid(w.slot.view, how[0] & 7);
	struct sa_mc_member_record want = { .qkey = 1,
		.pkey = 0xffff,
		.join_state = 1,
		.mgid = { UINT64_C(0xff12401bffff0000), how[2] } };

	if (end == FM_NONE)
		return;
	want.port_gid = (struct sa_gid){ w.slot.view->set.gid_prefix, w.slot.view->end[end].guid };
	request(how[0] & 7, how[1] & 1 ? SA_DELETE : SA_SET, SA_MC_MEMBER_RECORD,
	    SA_MCR_MGID | SA_MCR_PORT_GID | SA_MCR_JOIN_STATE | SA_MCR_QKEY | SA_MCR_TCLASS |
		SA_MCR_PKEY | SA_MCR_SL | SA_MCR_FLOW_LABEL,
	    &want);
}

/* ---------------------------------------------------------------- the sweep */

static void
let_pass(int64_t ms)
{
	int64_t end = sim_now_ns(w.house.sim) + ms * NS_PER_MS;
	unsigned n_done = w.house.n_done;
	struct fm_error err = { 0 };

	while (sim_now_ns(w.house.sim) < end) {
		must(txn_poll(w.house.txn, end, &err) >= 0);
		settle(&w.house);
	}
	if (w.house.n_done != n_done)
		publish();
	tick();
}

static void
deliver(uint8_t flags, const struct mad *m)
{
	for (unsigned n = flags & 0x80 ? 30 : 1; n > 0; n--) {
		w.n_traps++;
		w.house.transport->on_mad(w.house.transport->on_mad_arg, m);
		w.n_at_once = w.n_at_once > 256 ? 0 : w.n_at_once;
	}
	settle(&w.house);
}

static void
trap(const uint8_t *how)
{
	static const uint16_t numbers[] = { 64, 65, 66, 67, 128, 129, 144, 145, 256, 257, 259, 68 };
	struct wire_header h = { .base_version = 1,
		.mgmt_class = how[5] & 0x40 ? WIRE_CLASS_SMP_DR : WIRE_CLASS_SMP_LID,
		.class_version = 1,
		.method = WIRE_TRAP,
		.tid = w.n_traps + 1,
		.attr = WIRE_ATTR_NOTICE };
	struct wire_notice n = { .generic = (how[5] & 0x20) == 0,
		.type = 1,
		.producer_type = how[2] & 7,
		.trap_number = numbers[how[1] % 12],
		.issuer_lid = how[5] & 0x10 ? how[3] : how[0] & 7 };
	struct mad m = { .addr = { .lid = how[0] & 0x80 ? (uint16_t)(how[0] << 8 | how[3])
							: how[0] & 7 } };

	n.details[n.trap_number == 128 ? 1 : 3] = how[5] & 8 ? how[4] & 7 : how[0] & 7;
	n.details[30] = how[4];
	wire_header_put(m.bytes, &h);
	wire_notice_put(m.bytes + WIRE_SMP_DATA_AT, &n);
	deliver(how[5], &m);
}

static void
raw_trap(const uint8_t *how)
{
	struct mad m = { .addr = { .lid = how[0] & 7 } };
	struct wire_header h = { .base_version = 1,
		.mgmt_class = WIRE_CLASS_SMP_LID,
		.class_version = 1,
		.method = WIRE_TRAP,
		.attr = WIRE_ATTR_NOTICE };

	wire_header_put(m.bytes, &h);
	for (unsigned i = 0; i < WIRE_SMP_DATA_BYTES; i++)
		m.bytes[WIRE_SMP_DATA_AT + i] = (uint8_t)(how[1 + i % 5] * (i / 5 + 1));
	deliver(0, &m);
}

static void
cable(const uint8_t *how)
{
	uint32_t node = sim_find(w.house.sim, how[0] & 1 ? "b" : "c");

	if (how[1] & 1)
		sim_unlink(w.house.sim, node, 1);
	else
		sim_relink(w.house.sim, node, 1);
	w.cut = true;
	let_pass(100);
}

/* ------------------------------------------------------------------- a life */

static void
begin(void)
{
	struct sa_out out = { on_out, NULL };
	struct registry_settings limits;

	memset(&w, 0, sizeof(w));
	fuzz_be_quiet();
	w.house.on_notice = on_passed_on;
	move_in(&w.house);
	sweeper_request(w.house.sweeper, SWEEP_HEAVY, "fuzz");
	settle(&w.house);
	must(sweeper_is_up(w.house.sweeper));
	sa_slot_init(&w.slot);
	registry_settings_default(&limits);
	w.registry = registry_new(&limits);
	must(w.registry != NULL && (w.sa = sa_new(&w.slot, &out, w.registry)) != NULL);
	publish();
	tick();
}

/* Nobody answers any more, nothing else happens: all ends. */
static void
end(void)
{
	const struct sweep_trap_counts *c = sweeper_trap_counts(w.house.sweeper);
	int64_t due_ms = 0;

	let_pass(10000);
	for (int64_t stop = now_ms() + 600000; now_ms() < stop;) {
		due_ms = tick();
		if (due_ms == INT64_MAX)
			break;
		let_pass(due_ms > now_ms() ? due_ms - now_ms() : 1);
	}
	let_pass(30000);
	must(due_ms == INT64_MAX && sa_counts(w.sa)->told.waiting == 0);
	must(sweeper_due_ns(w.house.sweeper) == INT64_MAX);
	must(c->received >= w.n_traps && (w.cut || c->received <= w.n_traps + 100));
	must(c->refused + c->repeated <= c->received && c->acted <= 2 * c->received);
	/* 8 LIDs and nobody's, two numbers that set off something */
	must((int64_t)c->acted <= 9 * 2 * (TRAPS_IN_A_ROW + 4) * (2 + now_ms() / ROW_MS));
	sa_free(w.sa);
	registry_free(w.registry);
	sa_slot_fini(&w.slot);
	move_out(&w.house);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	begin();
	for (unsigned i = 0; i < ACTS_MAX && size >= ACT_BYTES; i++) {
		const uint8_t *how = data + 1;

		switch ((enum act)(data[0] % N_ACTS)) {
		case TRAP:
			trap(how);
			break;
		case RAW_TRAP:
			raw_trap(how);
			break;
		case SUBSCRIBE:
			subscribe(how);
			break;
		case ANSWER:
			answer(how);
			break;
		case ASK:
			request(how[0] & 7, SA_GET, SA_CLASS_PORT_INFO, 0, NULL);
			break;
		case JOIN:
			join(how);
			break;
		case CABLE:
			cable(how);
			break;
		case WAIT:
			let_pass(1 + (int64_t)how[0] * how[0]);
			break;
		case N_ACTS:
			break;
		}
		data += ACT_BYTES;
		size -= ACT_BYTES;
	}
	end();
	return 0;
}
