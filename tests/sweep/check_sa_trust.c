/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who may ask the SA what: a table of requests by who sends them and what key they show, and
 * what programs of hosts need, by name.
 */
#include <check.h>
#include <string.h>

#include "tests/run.h"
#include "tests/sweep/sa_rig.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))
#define SA_KEY 1
#define PREFIX UINT64_C(0xfe80000000000000)
#define BROADCAST ((struct sa_gid){ UINT64_C(0xff12401bffff0000), 0xffffffff })
#define CAPABILITY_MATCH (1u << 31)
#define IS_DM (1u << 19) /* CapabilityMask: device management */
#define IS_SM (1u << 1)

static struct rig rig;
static struct sa_rig sa;

static uint32_t
host(uint32_t n)
{
	return rig_host(&rig, n);
}

/* Who may be meant by a request. */
enum who { ME, OTHER, TARGET, NOBODY }; /* TARGET: offers device management, as SRP's do */

static uint64_t
guid_of(enum who who)
{
	return who == NOBODY ? 0x77 : netlist_port(&rig.nl, rig_host(&rig, who), 1)->guid;
}

static uint16_t
lid_of(uint32_t node)
{
	struct wire_port_info info;

	sim_port_info(rig.sim, node, 1, &info);
	return info.lid;
}

static void
offer_device_management(uint32_t node)
{
	struct sim_port *p = fabric_port(sim_fabric(rig.sim), node, 1);
	struct wire_port_info info;

	wire_port_info_get(p->info, &info);
	info.capability_mask |= IS_DM;
	wire_port_info_put(p->info, &info);
}

static void
setup(void)
{
	rig_generate(&rig.nl, "pgft 2 4,4 1,2 1,1");
	rig_sim(&rig, NULL);
	offer_device_management(host(TARGET));
	rig_start(&rig);
	rig_run(&rig, SWEEP_HEAVY);
	sa_rig_start(&sa, &rig);
	sa_rig_publish(&sa);
	sa_tick(sa.sa, 0);
	sa.from.lid = lid_of(host(0));
}

static void
teardown(void)
{
	sa_rig_fini(&sa);
	rig_fini(&rig);
}

/* ---------------------------------------------------------------- alias GUIDs */

#define ONE_GUID (SA_GIR_LID | SA_GIR_BLOCK | SA_GIR_GUID0 << 1)

/* An alias GUID is an identity: nobody gives one to another's port, or takes it away. */
START_TEST(alias_guids_of_another)
{
	struct sa_guid_info_record mine = { .lid = lid_of(host(0)), .guid = { 0, 0xabc } },
				   other = { .lid = lid_of(host(1)), .guid = { 0, 0xdef } }, got;

	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_SET, SA_GUID_INFO_RECORD, ONE_GUID, &other), SA_REQ_DENIED);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_SET, SA_GUID_INFO_RECORD, ONE_GUID, &mine), SA_OK);
	sa.from.lid = lid_of(host(1));
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_DELETE, SA_GUID_INFO_RECORD, ONE_GUID, &mine), SA_REQ_DENIED);
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_GET, SA_GUID_INFO_RECORD, SA_GIR_LID | SA_GIR_BLOCK, &mine), SA_OK);
	sa_rig_record(&sa, 0, &got);
	ck_assert_uint_eq(got.guid[1], 0xabc);
	/* what is denied says nothing of the port */
	other.lid = lid_of(host(0));
	other.block = 31;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_SET, SA_GUID_INFO_RECORD, ONE_GUID, &other), SA_REQ_DENIED);
	/* a key that is not ours changes nothing: no answer */
	sa.sm_key = 99;
	sa_rig_ask_in_vain(&sa, SA_SET, SA_GUID_INFO_RECORD, ONE_GUID, &mine);
	/* an administrator may */
	sa.sm_key = SA_KEY;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_DELETE, SA_GUID_INFO_RECORD, ONE_GUID, &mine), SA_OK);
	mine.guid[1] = 0x123;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_SET, SA_GUID_INFO_RECORD, ONE_GUID, &mine), SA_OK);
	sa_rig_record(&sa, 0, &got);
	ck_assert_uint_eq(got.guid[1], 0x123);
	/* LIDs of nobody and blocks that a port has not are not there */
	mine.lid = 0xbff0;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_SET, SA_GUID_INFO_RECORD, ONE_GUID, &mine), SA_NO_RECORDS);
	mine.lid = lid_of(host(1));
	mine.block = 31;
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_SET, SA_GUID_INFO_RECORD, ONE_GUID, &mine), SA_NO_RECORDS);
}
END_TEST

/* --------------------------------------------------------------- who may ask what */

#define NEW_GROUP \
	(SA_MCR_MGID | SA_MCR_PORT_GID | SA_MCR_JOIN_STATE | SA_MCR_QKEY | SA_MCR_PKEY | \
	    SA_MCR_TCLASS | SA_MCR_SL | SA_MCR_FLOW_LABEL)
#define JOIN (SA_MCR_MGID | SA_MCR_PORT_GID | SA_MCR_JOIN_STATE)
#define PAIR_G (SA_PR_SGID | SA_PR_DGID)
#define PAIR_L (SA_PR_SLID | SA_PR_DLID)
#define SERVICE (SA_SR_ID | SA_SR_GID | SA_SR_PKEY | SA_SR_LEASE | SA_SR_NAME)
#define LID SA_BIT(0)
#define DENIED SA_REQ_DENIED
#define INVALID SA_REQ_INVALID
#define TOO_MANY SA_TOO_MANY_RECORDS
#define TOO_LITTLE SA_REQ_INSUFFICIENT_COMPONENTS

/* in turn, for who shows no key under allow, no key under restrict, the key under restrict */
static const struct request_row {
	const char *name;
	uint8_t method;
	uint16_t attr;
	uint64_t mask;
	enum who from, to; /* whose record; paths: the two ends */
	uint32_t arg; /* of PortInfoRecord: capabilities; of InformInfo: trap; of others: state */
	uint16_t allow, restricted, trusted;
} requests[] = {
	/* ---- what programs of hosts need, by name */
	{ "ipoib: ClassPortInfo", SA_GET, SA_CLASS_PORT_INFO, 0, ME, ME, 0, 0, 0, 0 },
	{ "ipoib: makes the broadcast group", SA_SET, SA_MC_MEMBER_RECORD, NEW_GROUP, ME, ME, 1, 0,
	    0, 0 },
	{ "ipoib: joins it", SA_SET, SA_MC_MEMBER_RECORD, JOIN, ME, ME, 1, 0, 0, 0 },
	{ "ipoib: joins as send-only full member", SA_SET, SA_MC_MEMBER_RECORD, JOIN, ME, ME, 8, 0,
	    0, 0 },
	{ "ipoib: path to a neighbour", SA_GET, SA_PATH_RECORD,
	    PAIR_G | SA_PR_N_PATHS | SA_PR_TCLASS | SA_PR_PKEY, ME, OTHER, 0, 0, 0, 0 },
	{ "ipoib: leaves", SA_DELETE, SA_MC_MEMBER_RECORD, JOIN, ME, ME, 8, 0, 0, 0 },
	{ "librdmacm: path by GIDs", SA_GET, SA_PATH_RECORD,
	    PAIR_G | SA_PR_N_PATHS | SA_PR_REVERSIBLE | SA_PR_PKEY | SA_PR_SERVICE_ID, ME, OTHER, 0,
	    0, 0, 0 },
	{ "librdmacm: joins a group of its own", SA_SET, SA_MC_MEMBER_RECORD, NEW_GROUP, ME, ME, 1,
	    0, 0, 0 },
	{ "librdmacm: looks at a group", SA_GET, SA_MC_MEMBER_RECORD, SA_MCR_MGID, ME, ME, 0, 0, 0,
	    0 },
	{ "ibacm: joins its group", SA_SET, SA_MC_MEMBER_RECORD, NEW_GROUP, ME, ME, 1, 0, 0, 0 },
	{ "ibacm: path by GIDs", SA_GET, SA_PATH_RECORD,
	    PAIR_G | SA_PR_REVERSIBLE | SA_PR_N_PATHS | SA_PR_PKEY, ME, OTHER, 0, 0, 0, 0 },
	{ "ibacm: path by LIDs", SA_GET, SA_PATH_RECORD, PAIR_L | SA_PR_REVERSIBLE, ME, OTHER, 0, 0,
	    0, 0 },
	{ "ibacm: paths by GIDs as a table", SA_GET_TABLE, SA_PATH_RECORD, PAIR_G, ME, OTHER, 0, 0,
	    0, 0 },
	{ "srp_daemon: ClassPortInfo", SA_GET, SA_CLASS_PORT_INFO, 0, ME, ME, 0, 0, 0, 0 },
	{ "srp_daemon: trap 64", SA_SET, SA_INFORM_INFO, 0, ME, ME, 64, 0, 0, 0 },
	{ "srp_daemon: trap 144", SA_SET, SA_INFORM_INFO, 0, ME, ME, 144, 0, 0, 0 },
	{ "srp_daemon: ports with targets", SA_GET_TABLE, SA_PORT_INFO_RECORD, SA_PIR_CAP_MASK, ME,
	    ME, IS_DM, 0, 0, 0 },
	{ "srp_daemon: node of a target", SA_GET, SA_NODE_RECORD, LID, TARGET, ME, 0, 0, 0, 0 },
	{ "srp_daemon: port of a target", SA_GET, SA_PORT_INFO_RECORD, LID, TARGET, ME, 0, 0, 0,
	    0 },
	{ "srp_daemon: path to a target, by P_Key", SA_GET, SA_PATH_RECORD, PAIR_L | SA_PR_PKEY, ME,
	    TARGET, 0, 0, 0, 0 },
	{ "mlx4: alias GUIDs of its port", SA_SET, SA_GUID_INFO_RECORD, ONE_GUID, ME, ME, 0, 0, 0,
	    0 },
	{ "MPI: offers a service", SA_SET, SA_SERVICE_RECORD, SERVICE, ME, ME, 0, 0, 0, 0 },
	{ "MPI: finds it by name", SA_GET_TABLE, SA_SERVICE_RECORD, SA_SR_NAME, ME, ME, 0, 0, 0,
	    0 },
	{ "MPI: finds it by id", SA_GET, SA_SERVICE_RECORD, SA_SR_ID, ME, ME, 0, 0, 0, 0 },
	{ "MPI: takes it back", SA_DELETE, SA_SERVICE_RECORD, SERVICE, ME, ME, 0, 0, 0, 0 },
	{ "oneself: node", SA_GET, SA_NODE_RECORD, LID, ME, ME, 0, 0, 0, 0 },
	{ "oneself: port", SA_GET_TABLE, SA_PORT_INFO_RECORD, LID, ME, ME, 0, 0, 0, 0 },
	{ "oneself: link", SA_GET, SA_LINK_RECORD, LID, ME, ME, 0, 0, 0, 0 },
	{ "oneself: SL to VL", SA_GET_TABLE, SA_SL2VL_RECORD, LID, ME, ME, 0, 0, 0, 0 },
	{ "oneself: VL arbitration", SA_GET_TABLE, SA_VL_ARB_RECORD, LID, ME, ME, 0, 0, 0, 0 },
	{ "oneself: GUIDs", SA_GET_TABLE, SA_GUID_INFO_RECORD, LID, ME, ME, 0, 0, 0, 0 },
	{ "oneself: subscriptions", SA_GET_TABLE, SA_INFORM_INFO_RECORD, SA_IIR_SUBSCRIBER, ME, ME,
	    0, 0, 0, 0 },
	{ "oneself: path to oneself", SA_GET, SA_PATH_RECORD, PAIR_G, ME, ME, 0, 0, 0, 0 },
	/* ---- another's business */
	{ "joins for another", SA_SET, SA_MC_MEMBER_RECORD, JOIN, OTHER, ME, 1, 0, DENIED, 0 },
	{ "takes another out", SA_DELETE, SA_MC_MEMBER_RECORD, JOIN, OTHER, ME, 1, 0, DENIED, 0 },
	{ "joins for nobody", SA_SET, SA_MC_MEMBER_RECORD, JOIN, NOBODY, ME, 1, INVALID, DENIED,
	    INVALID },
	{ "offers a service of another", SA_SET, SA_SERVICE_RECORD, SERVICE, OTHER, ME, 0, 0,
	    DENIED, 0 },
	{ "takes a service of another", SA_DELETE, SA_SERVICE_RECORD, SERVICE, OTHER, ME, 0, 0,
	    DENIED, 0 },
	{ "offers a service of nobody", SA_SET, SA_SERVICE_RECORD, SERVICE, NOBODY, ME, 0, 0,
	    DENIED, 0 },
	{ "takes that back", SA_DELETE, SA_SERVICE_RECORD, SERVICE, NOBODY, ME, 0, 0, DENIED, 0 },
	{ "alias GUIDs of another", SA_SET, SA_GUID_INFO_RECORD, ONE_GUID, OTHER, ME, 0, DENIED,
	    DENIED, INVALID },
	{ "subscribes to bad P_Keys of all", SA_SET, SA_INFORM_INFO, 0, ME, ME, 257, 0, DENIED, 0 },
	{ "subscribes to bad M_Keys of all", SA_SET, SA_INFORM_INFO, 0, ME, ME, 256, 0, DENIED, 0 },
	{ "subscribes to everything", SA_SET, SA_INFORM_INFO, 0, ME, ME, 0xffff, 0, DENIED, 0 },
	{ "another's subscriptions", SA_GET_TABLE, SA_INFORM_INFO_RECORD, SA_IIR_SUBSCRIBER, OTHER,
	    ME, 0, 0, DENIED, 0 },
	{ "another's node", SA_GET, SA_NODE_RECORD, LID, OTHER, ME, 0, 0, DENIED, 0 },
	{ "another's port", SA_GET, SA_PORT_INFO_RECORD, LID, OTHER, ME, 0, 0, DENIED, 0 },
	{ "another's GUIDs", SA_GET_TABLE, SA_GUID_INFO_RECORD, LID, OTHER, ME, 0, 0, DENIED, 0 },
	{ "a target's GUIDs", SA_GET_TABLE, SA_GUID_INFO_RECORD, LID, TARGET, ME, 0, 0, DENIED, 0 },
	{ "another's link", SA_GET, SA_LINK_RECORD, LID, OTHER, ME, 0, 0, DENIED, 0 },
	{ "a node of nobody", SA_GET, SA_NODE_RECORD, LID, NOBODY, ME, 0, SA_NO_RECORDS, DENIED,
	    SA_NO_RECORDS },
	{ "a path from another", SA_GET, SA_PATH_RECORD, PAIR_G, OTHER, ME, 0, 0, DENIED, 0 },
	{ "a path from another, by LIDs", SA_GET, SA_PATH_RECORD, PAIR_L, OTHER, TARGET, 0, 0,
	    DENIED, 0 },
	{ "a path from another, by its LID beside one's own GID", SA_GET, SA_PATH_RECORD,
	    PAIR_G | SA_PR_SLID, OTHER, ME, 0, SA_NO_RECORDS, DENIED, SA_NO_RECORDS },
	{ "a path from nobody", SA_GET, SA_PATH_RECORD, PAIR_G, NOBODY, ME, 0, SA_REQ_INVALID_GID,
	    DENIED, SA_REQ_INVALID_GID },
	/* ---- the whole fabric */
	{ "all paths", SA_GET_TABLE, SA_PATH_RECORD, 0, ME, ME, 0, 0, DENIED, 0 },
	{ "all paths from oneself", SA_GET_TABLE, SA_PATH_RECORD, SA_PR_SGID, ME, ME, 0, 0, DENIED,
	    0 },
	{ "all paths to oneself", SA_GET_TABLE, SA_PATH_RECORD, SA_PR_DGID, ME, ME, 0, 0, DENIED,
	    0 },
	{ "any path", SA_GET, SA_PATH_RECORD, 0, ME, ME, 0, TOO_LITTLE, DENIED, TOO_LITTLE },
	{ "all nodes", SA_GET_TABLE, SA_NODE_RECORD, 0, ME, ME, 0, 0, DENIED, 0 },
	{ "all ports", SA_GET_TABLE, SA_PORT_INFO_RECORD, 0, ME, ME, 0, 0, DENIED, 0 },
	{ "all ports with SMs", SA_GET_TABLE, SA_PORT_INFO_RECORD, SA_PIR_CAP_MASK, ME, ME, IS_SM,
	    0, DENIED, 0 },
	{ "all switches", SA_GET_TABLE, SA_SWITCH_INFO_RECORD, 0, ME, ME, 0, 0, DENIED, 0 },
	{ "all links", SA_GET_TABLE, SA_LINK_RECORD, 0, ME, ME, 0, 0, DENIED, 0 },
	{ "all forwarding tables", SA_GET_TABLE, SA_LFT_RECORD, 0, ME, ME, 0, 0, DENIED, 0 },
	{ "all multicast tables", SA_GET_TABLE, SA_MFT_RECORD, 0, ME, ME, 0, 0, DENIED, 0 },
	{ "all SL to VL", SA_GET_TABLE, SA_SL2VL_RECORD, 0, ME, ME, 0, 0, DENIED, 0 },
	{ "all VL arbitration", SA_GET_TABLE, SA_VL_ARB_RECORD, 0, ME, ME, 0, 0, DENIED, 0 },
	{ "all P_Keys", SA_GET_TABLE, SA_PKEY_RECORD, 0, ME, ME, 0, INVALID, DENIED, 0 },
	{ "one's own P_Keys", SA_GET_TABLE, SA_PKEY_RECORD, LID, ME, ME, 0, INVALID, DENIED, 0 },
	{ "all SMs", SA_GET_TABLE, SA_SM_INFO_RECORD, 0, ME, ME, 0, 0, DENIED, 0 },
	{ "all GUIDs", SA_GET_TABLE, SA_GUID_INFO_RECORD, 0, ME, ME, 0, 0, DENIED, 0 },
	{ "all groups", SA_GET_TABLE, SA_MC_MEMBER_RECORD, 0, ME, ME, 0, 0, DENIED, 0 },
	{ "is another in a group", SA_GET, SA_MC_MEMBER_RECORD, SA_MCR_MGID | SA_MCR_PORT_GID,
	    OTHER, ME, 0, SA_NO_RECORDS, DENIED, SA_NO_RECORDS },
	{ "am I in a group", SA_GET_TABLE, SA_MC_MEMBER_RECORD, SA_MCR_MGID | SA_MCR_PORT_GID, ME,
	    ME, 0, 0, 0, 0 },
	{ "all services", SA_GET_TABLE, SA_SERVICE_RECORD, 0, ME, ME, 0, 0, DENIED, 0 },
	{ "all subscriptions", SA_GET_TABLE, SA_INFORM_INFO_RECORD, 0, ME, ME, 0, 0, DENIED, 0 },
	{ "a trace", SA_GET_TRACE_TABLE, SA_PATH_RECORD, PAIR_G, ME, OTHER, 0, 0, DENIED, 0 },
	{ "a multipath", SA_GET_MULTI, SA_MULTI_PATH_RECORD, 0, ME, OTHER, 0, TOO_LITTLE, DENIED,
	    TOO_LITTLE },
	/* ---- what nobody has is unknown, not denied */
	{ "no method", 0x7d, SA_NODE_RECORD, 0, ME, ME, 0, WIRE_STATUS_BAD_METHOD,
	    WIRE_STATUS_BAD_METHOD, WIRE_STATUS_BAD_METHOD },
	{ "no attribute", SA_GET, 0x3d, 0, ME, ME, 0, WIRE_STATUS_BAD_METHOD_ATTR,
	    WIRE_STATUS_BAD_METHOD_ATTR, WIRE_STATUS_BAD_METHOD_ATTR },
};

static struct sa_gid
gid_of(enum who who)
{
	return (struct sa_gid){ PREFIX, guid_of(who) };
}

static uint16_t
lid_of_who(enum who who)
{
	return who == NOBODY ? 0xbff0 : lid_of(host(who));
}

static void
fill(const struct request_row *r, union sa_any *want)
{
	memset(want, 0, sizeof(*want));
	switch (r->attr) {
	case SA_PATH_RECORD:
		want->path = (struct sa_path_record){ .sgid = gid_of(r->from),
			.dgid = gid_of(r->to),
			.slid = lid_of_who(r->from),
			.dlid = lid_of_who(r->to),
			.reversible = 1,
			.n_paths = 1,
			.pkey = 0xffff };
		if ((r->mask & SA_PR_SGID) && (r->mask & SA_PR_SLID))
			want->path.sgid = gid_of(ME);
		break;
	case SA_MC_MEMBER_RECORD:
		want->mc_member = (struct sa_mc_member_record){ .mgid = BROADCAST,
			.port_gid = gid_of(r->from),
			.pkey = 0xffff,
			.qkey = 0xb1b,
			.join_state = (uint8_t)r->arg };
		break;
	case SA_SERVICE_RECORD:
		want->service = (struct sa_service_record){ .id = 7,
			.gid = gid_of(r->from),
			.pkey = 0xffff,
			.lease_s = UINT32_MAX,
			.name = "test" };
		break;
	case SA_INFORM_INFO:
		want->inform_info = (struct sa_inform_info){ .lid_begin = 0xffff,
			.is_generic = 1,
			.subscribe = 1,
			.type = 0xffff,
			.trap_number = (uint16_t)r->arg,
			.producer_type = 0xffffff };
		break;
	case SA_INFORM_INFO_RECORD:
		want->inform_info_record.subscriber = gid_of(r->from);
		break;
	case SA_GUID_INFO_RECORD:
		want->guid_info = (struct sa_guid_info_record){ .lid = lid_of_who(r->from),
			.guid = { 0, 0xabc } };
		break;
	default: /* all others begin with their LID */
		want->node.lid = lid_of_who(r->from);
		if (r->attr == SA_PORT_INFO_RECORD)
			want->port_info.info.capability_mask = r->arg;
	}
}

/* As _i says: allow; restrict; restrict, with the key. */
START_TEST(requests_by_trust)
{
	union sa_any want;
	uint32_t n_denied = 0;

	sa.set.untrusted = _i == 0 ? SA_UNTRUSTED_ALLOW : SA_UNTRUSTED_RESTRICT;
	sa_rig_publish(&sa);
	sa.sm_key = _i == 2 ? SA_KEY : 0;
	for (size_t i = 0; i < N_OF(requests); i++) {
		const struct request_row *r = &requests[i];
		uint16_t expected = _i == 0 ? r->allow : _i == 1 ? r->restricted : r->trusted, got;

		fill(r, &want);
		sa.modifier = r->attr == SA_PORT_INFO_RECORD ? CAPABILITY_MATCH : 0;
		sa.from.lid = lid_of(host(ME));
		got = sa_rig_ask(&sa, r->method, r->attr, r->mask, &want);
		ck_assert_msg(got == expected, "%s: 0x%04x, not 0x%04x", r->name, got, expected);
		n_denied += got == SA_REQ_DENIED;
	}
	ck_assert_uint_eq(n_denied, _i == 0 ? 1 : _i == 1 ? 45 : 0);
}
END_TEST

/* What is denied changes nothing and shows nothing of what it was about. */
START_TEST(denied_is_denied)
{
	static const struct sa_service_record none;
	struct sa_service_record service = { .id = 7, .gid = gid_of(OTHER), .lease_s = UINT32_MAX };
	struct sa_gid alias = { PREFIX, 0xabc };
	union sa_any want;

	sa.set.untrusted = SA_UNTRUSTED_RESTRICT;
	sa_rig_publish(&sa);
	ck_assert_uint_eq(
	    sa_rig_ask(&sa, SA_SET, SA_SERVICE_RECORD, SERVICE, &service), SA_REQ_DENIED);
	ck_assert_uint_eq(registry_n_services(sa.registry), 0);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET_TABLE, SA_NODE_RECORD, 0, &none), SA_REQ_DENIED);
	ck_assert_uint_eq(sa_rig_n(&sa), 0);
	/* who is not known at all asks for nothing but ClassPortInfo */
	sa.from.lid = 0xbff0;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_CLASS_PORT_INFO, 0, &none), SA_OK);
	memset(&want, 0, sizeof(want));
	want.node.lid = sa.from.lid;
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_NODE_RECORD, LID, &want), SA_REQ_DENIED);
	/* an alias is oneself; another's is not */
	sa.from.lid = lid_of(host(ME));
	want.guid_info =
	    (struct sa_guid_info_record){ .lid = sa.from.lid, .guid = { 0, alias.guid } };
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_SET, SA_GUID_INFO_RECORD, ONE_GUID, &want), SA_OK);
	memset(&want, 0, sizeof(want));
	want.path.sgid = alias;
	want.path.dgid = gid_of(OTHER);
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR_G, &want), SA_OK);
	sa.from.lid = lid_of(host(OTHER));
	ck_assert_uint_eq(sa_rig_ask(&sa, SA_GET, SA_PATH_RECORD, PAIR_G, &want), SA_REQ_DENIED);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("sa_trust");
	TCase *t = tcase_create("sa_trust");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, alias_guids_of_another);
	tcase_add_loop_test(t, requests_by_trust, 0, 3);
	tcase_add_test(t, denied_is_denied);
	suite_add_tcase(s, t);
	return run_suite(s);
}
