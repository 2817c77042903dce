/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/sim_fixture.h"

struct sim *sim;
struct transport *local;
struct fm_error err;
struct mad arrived[SIM_ARRIVED_MAX];
unsigned n_arrived;
uint64_t key, next_tid = 1;

void
on_mad(void *arg, const struct mad *m)
{
	ck_assert_uint_lt(n_arrived, SIM_ARRIVED_MAX);
	arrived[n_arrived++] = *m;
}

void
build(struct netlist *nl)
{
	netlist_add(nl, NETLIST_SWITCH, "S1", "first switch", 0x100, SWITCH_PORTS);
	netlist_add(nl, NETLIST_SWITCH, "S2", "", 0x200, SWITCH_PORTS);
	netlist_add(nl, NETLIST_CA, "H1", "host 1", 0x1000, 2);
	netlist_add(nl, NETLIST_CA, "H2", "host 2", 0x2000, 1);
	netlist_add(nl, NETLIST_CA, "H3", "host 3", 0x3000, 1);
	netlist_cable(nl, H1, 1, S1, 1, 25000);
	netlist_cable(nl, H1, 2, S2, 3, 25000);
	netlist_cable(nl, S1, 2, S2, 1, 25000);
	netlist_cable(nl, S1, 4, S2, 4, 8000);
	netlist_cable(nl, S2, 2, H2, 1, 25000);
	netlist_cable(nl, S1, 3, H3, 1, 25000);
	netlist_cable(nl, S2, 5, S2, 6, 25000);
}

void
start(const struct sim_options *o)
{
	struct netlist nl = { 0 };

	build(&nl);
	ck_assert_int_eq(sim_new(&nl, o, &sim, &err), 0);
	netlist_fini(&nl);
	ck_assert_int_eq(sim_attach(sim, H1, 1, &local, &err), 0);
	local->on_mad = on_mad;
	n_arrived = 0;
}

void
setup(void)
{
	start(NULL);
}

void
setup_strict(void)
{
	struct sim_options o;

	sim_options_default(&o);
	o.strict = true;
	start(&o);
}

void
teardown(void)
{
	sim_free(sim);
}

/* ---- a small SM's hands */

struct mad
request(uint8_t mgmt_class, uint8_t method, uint16_t attr, uint32_t modifier, const uint8_t *data)
{
	struct wire_header h = { .base_version = 1,
		.mgmt_class = mgmt_class,
		.class_version = 1,
		.method = method,
		.tid = next_tid++,
		.attr = attr,
		.modifier = modifier,
		.m_key = key,
		.dr_slid = WIRE_LID_PERMISSIVE,
		.dr_dlid = WIRE_LID_PERMISSIVE };
	struct mad m = { .addr = { .lid = WIRE_LID_PERMISSIVE }, .timeout_ms = 100 };

	wire_header_put(m.bytes, &h);
	if (data != NULL)
		memcpy(m.bytes + WIRE_SMP_DATA_AT, data, 64);
	return m;
}

/* hops: egress ports, "" = ourselves, "\1\2" = out of our port 1, then port 2. */
void
direct(struct mad *m, const char *hops)
{
	m->bytes[7] = (uint8_t)strlen(hops);
	memcpy(m->bytes + WIRE_DR_INITIAL_PATH_AT + 1, hops, strlen(hops));
}

/* Send and wait up to 50 ms: the answer (not a trap), or NULL. */
const struct mad *
ask(const struct mad *m)
{
	int64_t until_ns = local->ops->now_ns(local) + 50 * MS;

	n_arrived = 0;
	ck_assert_int_eq(local->ops->send(local, m, &err), 0);
	while (local->ops->now_ns(local) < until_ns) {
		local->ops->poll(local, until_ns, &err);
		for (unsigned i = 0; i < n_arrived; i++)
			if (arrived[i].bytes[MAD_METHOD] & WIRE_RESPONSE_BIT)
				return &arrived[i];
	}
	return NULL;
}

const struct mad *
smp(const char *hops, uint8_t method, uint16_t attr, uint32_t modifier, const uint8_t *data)
{
	struct mad m = request(WIRE_CLASS_SMP_DR, method, attr, modifier, data);

	direct(&m, hops);
	return ask(&m);
}

uint16_t
status_of(const struct mad *m)
{
	struct wire_header h;

	ck_assert_ptr_nonnull(m);
	wire_header_get(m->bytes, &h);
	ck_assert_uint_eq(h.method, WIRE_GET_RESP);
	return h.status;
}

/* A Get that must work; the 64 bytes. */
const uint8_t *
get(const char *hops, uint16_t attr, uint32_t modifier)
{
	const struct mad *m = smp(hops, WIRE_GET, attr, modifier, NULL);

	ck_assert_uint_eq(status_of(m), 0);
	return m->bytes + WIRE_SMP_DATA_AT;
}

uint16_t
set(const char *hops, uint16_t attr, uint32_t modifier, const uint8_t *data)
{
	return status_of(smp(hops, WIRE_SET, attr, modifier, data));
}

struct wire_port_info
get_port(const char *hops, uint32_t port)
{
	struct wire_port_info pi;

	wire_port_info_get(get(hops, WIRE_ATTR_PORT_INFO, port), &pi);
	return pi;
}

uint16_t
set_port(const char *hops, uint32_t port, const struct wire_port_info *pi)
{
	uint8_t data[64];

	wire_port_info_put(data, pi);
	return set(hops, WIRE_ATTR_PORT_INFO, port, data);
}

/* PortInfo as it is, with states left alone: ready for a Set. */
struct wire_port_info
edit_port(const char *hops, uint32_t port)
{
	struct wire_port_info pi = get_port(hops, port);

	pi.port_state = pi.phys_state = 0;
	return pi;
}

uint16_t
set_state(const char *hops, uint32_t port, uint8_t state, uint8_t phys)
{
	struct wire_port_info pi = edit_port(hops, port);

	pi.port_state = state;
	pi.phys_state = phys;
	return set_port(hops, port, &pi);
}

void
give_lid(const char *hops, uint32_t port, uint16_t lid)
{
	struct wire_port_info pi = edit_port(hops, port);

	pi.lid = lid;
	pi.master_sm_lid = 1;
	pi.subnet_timeout = 18;
	ck_assert_uint_eq(set_port(hops, port, &pi), 0);
}

void
set_lft(const char *hops, const uint8_t *block0)
{
	struct wire_switch_info si;
	uint8_t data[64];

	ck_assert_uint_eq(set(hops, WIRE_ATTR_LFT, 0, block0), 0);
	wire_switch_info_get(get(hops, WIRE_ATTR_SWITCH_INFO, 0), &si);
	si.linear_fdb_top = 63;
	wire_switch_info_put(data, &si);
	ck_assert_uint_eq(set(hops, WIRE_ATTR_SWITCH_INFO, 0, data), 0);
}

/* LIDs H1 = 1, H2 = 2, H3 = 3, S1 = 11, S2 = 12, and LFTs that join them. */
void
configure(void)
{
	uint8_t of_s1[64], of_s2[64];

	memset(of_s1, 255, 64);
	memset(of_s2, 255, 64);
	of_s1[1] = 1, of_s1[2] = 2, of_s1[3] = 3, of_s1[11] = 0, of_s1[12] = 2;
	of_s2[1] = 1, of_s2[2] = 2, of_s2[3] = 1, of_s2[11] = 1, of_s2[12] = 0;
	give_lid("", 1, 1);
	give_lid("\1\2\2", 1, 2);
	give_lid("\1\3", 1, 3);
	give_lid("\1", 0, 11);
	give_lid("\1\2", 0, 12);
	set_lft("\1", of_s1);
	set_lft("\1\2", of_s2);
}

void
activate(void)
{
	static const struct {
		const char *hops;
		uint32_t port;
	} ends[] = { { "", 1 }, { "\1", 1 }, { "\1", 2 }, { "\1\2", 1 }, { "\1\2", 2 },
		{ "\1\2\2", 1 } };

	for (int i = 0; i < 6; i++)
		ck_assert_uint_eq(set_state(ends[i].hops, ends[i].port, WIRE_PORT_ARMED, 0), 0);
	for (int i = 0; i < 6; i += 2)
		ck_assert_uint_eq(set_state(ends[i].hops, ends[i].port, WIRE_PORT_ACTIVE, 0), 0);
}

bool
has_changed(const char *hops)
{
	struct wire_switch_info si;

	wire_switch_info_get(get(hops, WIRE_ATTR_SWITCH_INFO, 0), &si);
	return si.port_state_change;
}

void
clear_change(const char *hops)
{
	uint8_t data[64];

	memcpy(data, get(hops, WIRE_ATTR_SWITCH_INFO, 0), 64);
	ck_assert_uint_eq(set(hops, WIRE_ATTR_SWITCH_INFO, 0, data), 0);
	ck_assert(!has_changed(hops));
}

void
wait_ms(int64_t ms)
{
	int64_t until_ns = local->ops->now_ns(local) + ms * MS;

	while (local->ops->now_ns(local) < until_ns)
		local->ops->poll(local, until_ns, &err);
}
