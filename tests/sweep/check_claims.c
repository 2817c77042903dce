/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_claims - IP addresses that hosts register, from the request to the file of a host: who may
 * register which, whose an address is that several claim, by a model, and what is told when.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/dist/view_blobs.h"
#include "core/wire/ip_service.h"
#include "host/agent/source.h"
#include "host/paths/paths.h"
#include "lib/rng.h"
#include "tests/folder.h"
#include "tests/run.h"
#include "tests/sweep/sa_rig.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))
#define PREFIX UINT64_C(0xfe80000000000000)
#define HOSTS 16
#define IPS 10 /* 10.1.0.1 and so on, that hosts contest */
#define LEASE_S 600
#define SA_KEY 1

static struct rig rig;
static struct sa_rig sa;
static char folder[FOLDER_ROOM], place[64], file[64];
static void *files, *source;
static struct published told;
static struct view_beside beside;
static struct replica replica;

static uint64_t
guid_of(unsigned host)
{
	return netlist_port(&rig.nl, rig_host(&rig, host), 1)->guid;
}

static void
open_publisher(void)
{
	struct fm_error err = { 0 };

	pub_init(&told, &place_files);
	ck_assert_int_eq(place_files.open(&(struct place_at){ .where = place }, &files, &err), 0);
	ck_assert_int_eq(pub_load(&told, files, &err), 0);
}

static void
close_publisher(void)
{
	place_files.close(files);
	pub_fini(&told);
	ip_claims_put(beside.claims);
	beside.claims = NULL;
	claimed_fini(&beside.claimed);
}

static void
setup(void)
{
	folder_make(folder);
	snprintf(place, sizeof(place), "%s/dist", folder);
	snprintf(file, sizeof(file), "%s/paths", folder);
	rig_generate(&rig.nl, "pgft 2 4,4 1,2 1,1");
	rig_sim(&rig, NULL);
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	sa_rig_start(&sa, &rig);
	sa_rig_publish(&sa);
	open_publisher();
	rig_log_clear();
}

static void
teardown(void)
{
	close_publisher();
	addresses_fini(&beside.addresses);
	memset(&beside, 0, sizeof(beside));
	source_files.close(source);
	source = NULL;
	replica_fini(&replica);
	memset(&replica, 0, sizeof(replica));
	sa_rig_fini(&sa);
	rig_fini(&rig);
	folder_remove(folder);
}

static const uint8_t *
ip_of(unsigned i)
{
	static uint8_t ip[16];

	memcpy(
	    ip, (uint8_t[16]){ [10] = 0xff, 0xff, 10, 1, (uint8_t)(i >> 8), (uint8_t)(i + 1) }, 16);
	return ip;
}

static struct ip_service
service_of(unsigned host, unsigned ip)
{
	struct ip_service s = {
		.gid = { PREFIX, guid_of(host) }, .hardware = 0x80000100 + host, .pkey = 0xffff
	};

	memcpy(s.ip, ip_of(ip), sizeof(s.ip));
	return s;
}

/* By the port of a host, from whatever GID the service has. */
static uint16_t
ask(unsigned host, uint8_t method, const struct ip_service *s, uint32_t number)
{
	struct sa_service_record rec;

	ip_service_put(s, number, LEASE_S, &rec);
	sa.from.lid = rig_host_lid(&rig, host);
	return sa_rig_ask(&sa, method, SA_SERVICE_RECORD,
	    method == SA_SET ? IP_SERVICE_MASK : SA_SR_ID | SA_SR_GID | SA_SR_PKEY, &rec);
}

/* --------------------------------------------------------------- who may register */

static void
expect_refused(unsigned host, const struct ip_service *s, const char *why)
{
	rig_log_clear();
	ck_assert_uint_eq(ask(host, SA_SET, s, 1), SA_REQ_INVALID);
	ck_assert_msg(strstr(rig_log, why) != NULL, "%s", rig_log);
	ck_assert_uint_eq(registry_n_services(sa.registry), 0);
}

START_TEST(a_port_registers_its_own_gid)
{
	struct ip_service s = service_of(1, 0);

	sa.sm_key = _i == 0 ? 0 : SA_KEY; /* no key makes a GID one's own */
	expect_refused(2, &s, "10.1.0.1 (GID 0xfe80000000000000:");
	expect_refused(2, &s, "is registered for a GID that this port has not");
	s.gid.prefix = 0x1234;
	expect_refused(1, &s, "is registered for a GID that this port has not");
	s = service_of(1, 0);
	ck_assert_uint_eq(ask(1, SA_SET, &s, 1), SA_OK);
	ck_assert_uint_eq(ask(2, SA_DELETE, &s, 1), _i == 0 ? SA_REQ_INVALID : SA_OK);
}
END_TEST

/* Names begin as the sentence of the refusal does. */
START_TEST(data_must_make_sense)
{
	static const struct {
		uint8_t ip[16];
		uint32_t hardware;
		uint16_t pkey;
		const char *why;
	} wrong[] = {
		{ { [10] = 0xff, 0xff, 127, 0, 0, 1 }, 0x48, 0xffff, "127.0.0.1" },
		{ { [10] = 0xff, 0xff, 224, 0, 0, 1 }, 0x48, 0xffff, "no unicast" },
		{ { [10] = 0xff, 0xff, 255, 255, 255, 255 }, 0x48, 0xffff, "no unicast" },
		{ { [10] = 0xff, 0xff, 0, 0, 0, 0 }, 0x48, 0xffff, "which no host has" },
		{ { 0 }, 0x48, 0xffff, "the unspecified" },
		{ { [15] = 1 }, 0x48, 0xffff, "loopback" },
		{ { 0xff, 2, [15] = 1 }, 0x48, 0xffff, "no unicast" },
		{ { 0xfe, 0x80, [15] = 1 }, 0x48, 0xffff, "link-local" },
		{ { [10] = 0xff, 0xff, 10, 0, 0, 1 }, 0x80000001, 0xffff, "a QPN that no" },
		{ { [10] = 0xff, 0xff, 10, 0, 0, 1 }, 0, 0xffff, "a QPN that no" },
		{ { [10] = 0xff, 0xff, 10, 0, 0, 1 }, 0x48, 0x8123, "partition" },
	};
	struct ip_service s = service_of(1, 0);

	memcpy(s.ip, wrong[_i].ip, sizeof(s.ip));
	s.hardware = wrong[_i].hardware;
	s.pkey = wrong[_i].pkey;
	expect_refused(1, &s, wrong[_i].why);
}
END_TEST

START_TEST(a_lease_ends_and_the_format_is_known)
{
	struct ip_service s = service_of(1, 0);
	struct sa_service_record rec;

	sa.from.lid = rig_host_lid(&rig, 1);
	ip_service_put(&s, 1, UINT32_MAX, &rec);
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_SET, SA_SERVICE_RECORD, IP_SERVICE_MASK, &rec), SA_REQ_INVALID);
	ip_service_put(&s, 1, LEASE_S, &rec);
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_SET, SA_SERVICE_RECORD, IP_SERVICE_MASK & ~SA_SR_LEASE, &rec),
	    SA_REQ_INVALID);
	rec.data16[0] = IP_SERVICE_FORMAT + 1;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_SET, SA_SERVICE_RECORD, IP_SERVICE_MASK, &rec), SA_REQ_INVALID);
	ck_assert_msg(
	    strstr(rig_log, "a format that this fmd does not know") != NULL, "%s", rig_log);
	/* another service may be for ever, of any data */
	rec.id = 0x12345;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_SET, SA_SERVICE_RECORD, SA_SR_ID | SA_SR_GID, &rec), SA_OK);
}
END_TEST

/* -------------------------------------------------------------- whose an address is */

struct model {
	bool claims[HOSTS][IPS];
	bool is_out[HOSTS];   /* its cable */
	int of_file[IPS];     /* host, -1: the file has it not */
	uint64_t had[IPS];    /* GUID of who hosts were told of */
	unsigned n_contested; /* as it is to be */
};

static void
publish(void)
{
	struct fm_error err = { 0 };
	struct sa_view *v = sa_slot_get(&sa.slot);
	struct claimed before = beside.claimed;
	bool did;

	memset(&beside.claimed, 0, sizeof(beside.claimed));
	pub_start(&told, 1);
	ck_assert_msg(view_blobs_put(&told, v, NULL, &beside, &err) == 0, "%s", err.msg);
	ck_assert_msg(pub_commit(&told, &did, &err) == 0, "%s", err.msg);
	claimed_tell(&beside.claimed, &before);
	claimed_fini(&before);
	sa_view_put(v);
}

static void
take_claims(void)
{
	ip_claims_put(beside.claims);
	beside.claims = registry_claims(sa.registry);
	ck_assert_ptr_nonnull(beside.claims);
}

static struct paths *
follow(void)
{
	struct fm_error err = { 0 };
	struct paths *p = NULL;
	bool whole;

	replica.own[0] = guid_of(0);
	replica.n_own = 1;
	if (source == NULL)
		ck_assert_int_eq(source_files.open(place, NULL, &source, &err), 0);
	ck_assert_msg(source_files.fetch(source, &replica, &whole, &err) == 0, "%s", err.msg);
	ck_assert_msg(replica_write(&replica, file, &err) == 0, "%s", err.msg);
	ck_assert_msg(paths_read(file, &p, &err) == 0, "%s", err.msg);
	ck_assert_ptr_nonnull(p);
	return p;
}

/* Whose it is to be of those that claim it; -1: nobody's. */
static int
owner(struct model *m, unsigned ip)
{
	int best = -1, n = 0;

	for (int h = 0; h < HOSTS; h++) {
		if (!m->claims[h][ip] || m->is_out[h])
			continue;
		n++;
		if (m->of_file[ip] >= 0 ? m->of_file[ip] != h
					: best >= 0 && guid_of((unsigned)best) == m->had[ip])
			continue;
		if (best < 0 || guid_of((unsigned)h) == m->had[ip] ||
		    guid_of((unsigned)h) < guid_of((unsigned)best))
			best = h;
	}
	m->n_contested += (unsigned)n - (best >= 0);
	return best;
}

static void
expect_as_the_model(struct model *m)
{
	struct paths *p = follow();
	struct blob_reg reg;
	uint64_t now[IPS];
	unsigned n = 0;
	size_t at = 0;

	m->n_contested = 0;
	for (unsigned ip = 0; ip < IPS; ip++) {
		int h = owner(m, ip), f = m->of_file[ip];

		now[ip] = h >= 0 ? guid_of((unsigned)h) : 0;
		n += h >= 0;
		h = f >= 0 ? (m->is_out[f] ? -1 : f) : h;
		ck_assert_uint_eq(
		    paths_lid_of_ip(p, ip_of(ip)), h >= 0 ? rig_host_lid(&rig, (unsigned)h) : 0);
	}
	while (paths_next_reg(p, &at, &reg)) {
		unsigned ip = reg.ip[15] - 1u;

		ck_assert_uint_lt(ip, IPS);
		ck_assert_uint_eq(reg.guid, now[ip]);
		ck_assert_uint_eq(reg.lid, paths_lid_of_guid(p, reg.guid));
		ck_assert_uint_eq(reg.hardware >> 8, 0x800001);
		n--;
	}
	ck_assert_uint_eq(n, 0);
	ck_assert_uint_eq(beside.claimed.n_contests, m->n_contested);
	memcpy(m->had, now, sizeof(now));
	paths_free(p);
}

static void
write_file(struct model *m)
{
	char text[IPS * 64] = "", path[96];
	size_t n = 0;
	bool changed;

	for (unsigned ip = 0; ip < IPS; ip++)
		if (m->of_file[ip] >= 0)
			n += (size_t)snprintf(text + n, sizeof(text) - n,
			    "10.1.0.%u 0x%016" PRIx64 "\n", ip + 1,
			    guid_of((unsigned)m->of_file[ip]));
	snprintf(path, sizeof(path), "%s/addresses", folder);
	folder_write(folder, "addresses", text);
	beside.addresses.mtime_ns = 0; /* whatever the clock says */
	addresses_read(&beside.addresses, path, &changed);
	ck_assert(changed);
	beside.addresses.path = NULL;
}

static void
step(struct model *m, struct fm_rng *rng)
{
	unsigned h = 1 + (unsigned)fm_rng_below(rng, HOSTS - 1);
	unsigned ip = (unsigned)fm_rng_below(rng, IPS);
	struct ip_service s = service_of(h, ip);

	switch (fm_rng_below(rng, 12)) {
	case 0:
		m->of_file[ip] = (int)fm_rng_below(rng, HOSTS + 4) - 4;
		m->of_file[ip] = m->of_file[ip] < 0 ? -1 : m->of_file[ip];
		write_file(m);
		break;
	case 1:
		if (m->is_out[h])
			sim_relink(rig.sim, rig_host(&rig, h), 1);
		else
			sim_unlink(rig.sim, rig_host(&rig, h), 1);
		m->is_out[h] = !m->is_out[h];
		rig_let_pass(&rig, 5000);
		rig_run(&rig, SWEEP_HEAVY);
		sa_rig_publish(&sa);
		break;
	case 2: /* another SM, or a restart: what has been told is read back */
		close_publisher();
		open_publisher();
		break;
	default:
		if (m->is_out[h])
			return;
		ck_assert_uint_eq(ask(h, m->claims[h][ip] ? SA_DELETE : SA_SET, &s, ip + 1), SA_OK);
		m->claims[h][ip] = !m->claims[h][ip];
	}
}

START_TEST(who_has_an_address_keeps_it)
{
	static struct model m;
	struct fm_rng rng;

	memset(&m, 0, sizeof(m));
	for (unsigned ip = 0; ip < IPS; ip++)
		m.of_file[ip] = -1;
	fm_rng_seed(&rng, (uint64_t)_i);
	for (unsigned i = 0; i < 60; i++) {
		step(&m, &rng);
		take_claims();
		publish();
		expect_as_the_model(&m);
	}
}
END_TEST

/* Each is told when it begins, and not again. */
START_TEST(contests_are_told_once)
{
	struct ip_service a = service_of(1, 0), b = service_of(2, 0);

	ck_assert_uint_eq(ask(1, SA_SET, &a, 1), SA_OK);
	ck_assert_uint_eq(ask(2, SA_SET, &b, 1), SA_OK);
	for (int i = 0; i < 3; i++) {
		take_claims();
		publish();
	}
	ck_assert_uint_eq(beside.claimed.contest.n, 1);
	ck_assert_ptr_nonnull(strstr(rig_log, "claims 10.1.0.1, which is registered by port"));
	ck_assert_ptr_null(strstr(strstr(rig_log, "claims 10.1.0.1") + 1, "claims 10.1.0.1"));
}
END_TEST

/* --------------------------------------------------------------- what is told when */

/* A master that has not loaded what was registered takes nothing away. */
START_TEST(what_is_not_known_yet_stays)
{
	struct ip_service s = service_of(3, 0);
	struct place_epoch at;
	struct paths *p;

	ck_assert_uint_eq(ask(3, SA_SET, &s, 1), SA_OK);
	take_claims();
	publish();
	close_publisher();
	open_publisher();
	at = told.at;
	publish();
	ck_assert_uint_eq(told.at.epoch, at.epoch);
	p = follow();
	ck_assert_uint_eq(paths_lid_of_ip(p, ip_of(0)), rig_host_lid(&rig, 3));
	paths_free(p);
	take_claims();
	publish();
	ck_assert_uint_eq(told.at.epoch, at.epoch); /* nothing else than was told */
	ip_claims_put(beside.claims);
	ck_assert_uint_eq(ask(3, SA_DELETE, &s, 1), SA_OK);
	beside.claims = registry_claims(sa.registry);
	publish();
	p = follow();
	ck_assert_uint_eq(paths_lid_of_ip(p, ip_of(0)), 0);
	paths_free(p);
}
END_TEST

#define ONE_GUID (SA_GIR_LID | SA_GIR_BLOCK | SA_GIR_GUID0 << 1)

START_TEST(an_alias_leads_to_its_port)
{
	struct sa_guid_info_record alias = { .lid = rig_host_lid(&rig, 4),
		.guid = { 0, UINT64_C(0xabc0000000000001) } };
	struct ip_service s = service_of(4, 0);
	struct paths *p;

	s.gid.guid = alias.guid[1];
	expect_refused(4, &s, "a GID that this port has not");
	sa.from.lid = rig_host_lid(&rig, 4);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_SET, SA_GUID_INFO_RECORD, ONE_GUID, &alias), SA_OK);
	expect_refused(5, &s, "a GID that this port has not");
	ck_assert_uint_eq(ask(4, SA_SET, &s, 1), SA_OK);
	take_claims();
	publish();
	p = follow();
	ck_assert_uint_eq(paths_guid_of_ip(p, ip_of(0)), alias.guid[1]);
	ck_assert_uint_eq(paths_lid_of_ip(p, ip_of(0)), rig_host_lid(&rig, 4));
	ck_assert_uint_eq(paths_lid_of_guid(p, alias.guid[1]), rig_host_lid(&rig, 4));
	paths_free(p);
	ck_assert_uint_eq(ask(4, SA_DELETE, &s, 1), SA_OK);
	take_claims();
	publish();
	p = follow(); /* the alias alone */
	ck_assert_uint_eq(paths_lid_of_ip(p, ip_of(0)), 0);
	ck_assert_uint_eq(paths_lid_of_ip(p, (const uint8_t[16]){ 0 }), 0);
	ck_assert_uint_eq(paths_lid_of_guid(p, alias.guid[1]), rig_host_lid(&rig, 4));
	paths_free(p);
}
END_TEST

START_TEST(a_port_has_so_many)
{
	struct blob_reg reg;
	struct paths *p;
	unsigned n = 0;
	size_t at = 0;

	for (unsigned i = 0; i < CLAIMED_MOST_OF_PORT + 6; i++) {
		struct ip_service s = service_of(5, i);

		ck_assert_uint_eq(ask(5, SA_SET, &s, i + 1), SA_OK);
	}
	take_claims();
	publish();
	ck_assert_uint_eq(beside.claimed.n_left_out, 6);
	ck_assert_ptr_nonnull(strstr(rig_log, "6 registered addresses and alias GUIDs are not"));
	p = follow();
	while (paths_next_reg(p, &at, &reg))
		n++;
	ck_assert_uint_eq(n, CLAIMED_MOST_OF_PORT);
	paths_free(p);
}
END_TEST

static unsigned n_told;

static void
on_claims(void *arg, const struct registry *r)
{
	(void)arg;
	(void)r;
	n_told++;
}

static void
tick(int64_t ms, unsigned want)
{
	sa.now_ms += ms;
	sa_tick(sa.sa, sa.now_ms);
	ck_assert_uint_eq(n_told, want);
}

/* A renewal is no news; many changes at once are told together. */
START_TEST(changes_are_told_together)
{
	struct ip_service s = service_of(1, 0);

	n_told = 0;
	sa_on_claims(sa.sa, on_claims, NULL);
	tick(0, 1); /* all that is new to who listens */
	ck_assert_uint_eq(ask(1, SA_SET, &s, 1), SA_OK);
	tick(0, 1);
	s = service_of(2, 1);
	ck_assert_uint_eq(ask(2, SA_SET, &s, 1), SA_OK);
	tick(3000, 2);
	ck_assert_uint_eq(ask(2, SA_SET, &s, 1), SA_OK);
	tick(3000, 2);
	s.hardware++;
	ck_assert_uint_eq(ask(2, SA_SET, &s, 1), SA_OK);
	tick(3000, 3);
	tick((int64_t)LEASE_S * 1000, 4); /* leases have ended */
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("claims");
	TCase *t = tcase_create("claims");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, a_port_registers_its_own_gid, 0, 2);
	tcase_add_loop_test(t, data_must_make_sense, 0, 11);
	tcase_add_test(t, a_lease_ends_and_the_format_is_known);
	tcase_add_loop_test(t, who_has_an_address_keeps_it, 0, (int)n_cases(16));
	tcase_add_test(t, contests_are_told_once);
	tcase_add_test(t, what_is_not_known_yet_stays);
	tcase_add_test(t, an_alias_leads_to_its_port);
	tcase_add_test(t, a_port_has_so_many);
	tcase_add_test(t, changes_are_told_together);
	suite_add_tcase(s, t);
	return run_suite(s);
}
