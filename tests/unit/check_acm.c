/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_acm - ibacm's provider without ibacm: this program has the functions that ibacm exports.
 * What tests/integration/acm.sh cannot make happen happens here: SAs that are busy, silent or
 * late, MADs that cannot be sent, requests of odd forms.
 *
 * Our port is LID 4 (GUID 0x104), the others 5 "other" (a row), 6 "far" (none: ask the SA).
 */
#include <check.h>
#include <infiniband/acm_prov.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/folder.h"
#include "tests/run.h"
#include "tests/unit/paths_maker.h"

#define PREFIX UINT64_C(0xfe80000000000000)
#define EXPORTED __attribute__((visibility("default")))
#define CLIENT 7

static char folder[FOLDER_ROOM], opts[64], path[64];
static struct acm_provider *provider;
static struct acm_device device;
static struct acm_port port = { .dev = &device, .port_num = 1 };
static struct acm_endpoint endpoint = { .port = &port, .pkey = 0xffff };
static void *context, *addr;
static char log_text[4096];

/* ------------------------------------------------------------------- of ibacm */

struct answer {
	uint64_t id;
	bool is_query;
	unsigned n;
	struct acm_msg msg; /* it ends in an array */
};
static struct answer answered;

struct request {
	struct acm_sa_mad mad; /* first: what the provider has of it */
	void (*handler)(struct acm_sa_mad *);
	bool is_freed;
};
static struct request requests[8];
static unsigned n_requests, n_sent;
static bool no_memory, no_sending;

EXPORTED void
acm_write(int level, const char *format, ...)
{
	size_t n = strlen(log_text);
	va_list ap;

	va_start(ap, format);
	vsnprintf(log_text + n, sizeof(log_text) - n, format, ap);
	va_end(ap);
	(void)level;
}

EXPORTED int
acm_get_gid(struct acm_port *p, int index, union ibv_gid *gid)
{
	ck_assert(p == &port && index == 0);
	sa_gid_put(gid->raw, (struct sa_gid){ PREFIX, 0x104 });
	return 0;
}

static int
take(uint64_t id, const struct acm_msg *msg, bool is_query)
{
	answered =
	    (struct answer){ .id = id, .is_query = is_query, .n = answered.n + 1, .msg = *msg };
	return 0;
}

EXPORTED int
acm_resolve_response(uint64_t id, struct acm_msg *msg)
{
	return take(id, msg, false);
}

EXPORTED int
acm_query_response(uint64_t id, struct acm_msg *msg)
{
	return take(id, msg, true);
}

EXPORTED struct acm_sa_mad *
acm_alloc_sa_mad(const struct acm_endpoint *e, void *arg, void (*handler)(struct acm_sa_mad *))
{
	struct request *r = &requests[n_requests];

	ck_assert_ptr_eq(e, &endpoint);
	if (no_memory)
		return NULL;
	ck_assert_uint_lt(n_requests++, 8);
	memset(r, 0, sizeof(*r));
	r->mad.context = arg;
	r->handler = handler;
	return &r->mad;
}

EXPORTED void
acm_free_sa_mad(struct acm_sa_mad *mad)
{
	struct request *r = (struct request *)mad;

	ck_assert(!r->is_freed);
	r->is_freed = true;
}

EXPORTED int
acm_send_sa_mad(struct acm_sa_mad *mad)
{
	(void)mad;
	n_sent += !no_sending;
	return no_sending ? -1 : 0;
}

EXPORTED const char *
acm_get_opts_file(void)
{
	return opts;
}

EXPORTED void
acm_increment_counter(int type)
{
	ck_assert_int_lt(type, ACM_MAX_COUNTER);
}

/* -------------------------------------------------------------------- the rig */

static void
write_paths(void)
{
	static const uint16_t keys[] = { 0xffff };
	struct paths_bytes section[PATHS_SECTIONS];
	struct paths_maker m;
	uint8_t row[8] = { 0 };

	maker_init(&m);
	m.subnet.gid_prefix = PREFIX;
	m.subnet.lid_top = 7;
	maker_link(&m, 5, 100000);
	maker_pkset(&m, keys, 1);
	row[4] = row[5] = maker_class(&m, 4, 100000, 3);
	for (uint16_t lid = 4; lid < 7; lid++)
		maker_port(&m, lid, &(struct blob_port){ .guid = 0x100u + lid });
	maker_port(&m, 1, &(struct blob_port){ .guid = 0x101 });
	/* two LIDs */
	maker_port(&m, 2, &(struct blob_port){ .guid = 0x102, .lmc = 1 });
	row[2] = row[3] = row[5];
	maker_name(&m, "self", 4);
	maker_name(&m, "other", 5);
	maker_name(&m, "far", 6);
	maker_name(&m, "mixed", 1);
	maker_name(&m, "mixed", 5);
	maker_row(&m, 0, row);
	maker_done(&m, section);
	ck_assert_int_eq(paths_write(path, (struct paths_epoch){ 1, 1 }, section, NULL), 0);
	maker_fini(&m);
}

static void
setup(void)
{
	char text[128];
	uint32_t version;
	void *d, *p;

	folder_make(folder);
	snprintf(opts, sizeof(opts), "%s/opts", folder);
	snprintf(path, sizeof(path), "%s/paths", folder);
	snprintf(
	    text, sizeof(text), "provider fmdacm default\nfmd_paths %s\nfmd_max_age x\n", path);
	folder_write(folder, "opts", text);
	write_paths();
	ck_assert_int_eq(provider_query(&provider, &version), 0);
	ck_assert(version == ACM_PROV_VERSION && provider->size == sizeof(struct acm_provider) &&
	    provider->version == ACM_PROV_VERSION);
	ck_assert_str_eq(provider->name, "fmdacm");
	ck_assert_int_eq(provider->open_device(&device, &d), 0);
	ck_assert_int_eq(provider->open_port(&port, d, &p), 0);
	ck_assert_int_eq(provider->open_endpoint(&endpoint, p, &context), 0);
	ck_assert_int_eq(
	    provider->add_address(&(struct acm_address){ .endpoint = &endpoint }, context, &addr),
	    0);
	/* ibacm takes NULL for not open */
	ck_assert(d != NULL && p != NULL && context != NULL && addr != NULL);
}

static void
teardown(void)
{
	folder_remove(folder);
}

static struct acm_ep_addr_data *
data_of(struct acm_msg *msg)
{
	return (struct acm_ep_addr_data *)msg->data;
}

/* A path by what is not 0. */
static struct acm_msg
path_msg(const struct sa_path_record *want, uint32_t flags)
{
	struct acm_msg msg = { .hdr = { .version = ACM_VERSION,
				   .opcode = ACM_OP_RESOLVE,
				   .length = ACM_MSG_HDR_LENGTH + ACM_MSG_EP_LENGTH,
				   .tid = 99 } };

	data_of(&msg)[0].type = ACM_EP_INFO_PATH;
	data_of(&msg)[0].flags = flags;
	sa_record_put(sa_record_of(SA_PATH_RECORD), (uint8_t *)&data_of(&msg)[0].info, want);
	return msg;
}

static struct acm_msg
name_msg(const char *name, uint32_t flags)
{
	struct acm_msg msg = { .hdr = { .version = ACM_VERSION,
				   .opcode = ACM_OP_RESOLVE,
				   .length = ACM_MSG_HDR_LENGTH + ACM_MSG_EP_LENGTH } };

	msg.hdr.src_out = 1; /* ibacm has found the source, behind the destination */
	msg.hdr.src_index = 1;
	data_of(&msg)[0].type = ACM_EP_INFO_NAME;
	data_of(&msg)[0].flags = ACM_EP_FLAG_DEST | flags;
	memcpy(data_of(&msg)[0].info.name, name, strlen(name));
	data_of(&msg)[1].type = ACM_EP_INFO_NAME;
	data_of(&msg)[1].flags = ACM_EP_FLAG_SOURCE;
	snprintf((char *)data_of(&msg)[1].info.name, ACM_MAX_ADDRESS, "self");
	return msg;
}

static void
resolve(struct acm_msg msg)
{
	ck_assert_int_eq(provider->resolve(addr, &msg, CLIENT), 0);
}

/* The last answer is of this status, and of a form that clients take. */
static struct sa_path_record
answer(unsigned n, uint8_t status, unsigned n_data)
{
	struct sa_path_record r = { 0 };

	ck_assert_uint_eq(answered.n, n);
	ck_assert_uint_eq(answered.id, CLIENT);
	ck_assert_uint_eq(answered.msg.hdr.status, status);
	ck_assert_uint_eq(answered.msg.hdr.opcode, ACM_OP_RESOLVE | ACM_OP_ACK);
	ck_assert_uint_eq(answered.msg.hdr.length, ACM_MSG_HDR_LENGTH + n_data * ACM_MSG_EP_LENGTH);
	if (status == 0)
		sa_record_get(
		    sa_record_of(SA_PATH_RECORD), (uint8_t *)&data_of(&answered.msg)[0].info, &r);
	return r;
}

/* What the SA was asked. */
static struct sa_path_record
sent(unsigned i, uint64_t mask)
{
	const uint8_t *bytes = (const uint8_t *)&requests[i].mad.sa_mad;
	struct sa_path_record r;
	struct sa_header h;

	ck_assert_uint_eq(n_sent, i + 1);
	sa_header_get(bytes, &h);
	ck_assert(h.method == SA_GET && h.attr == SA_PATH_RECORD &&
	    h.class_version == SA_CLASS_VERSION && h.mgmt_class == WIRE_CLASS_SA);
	ck_assert(h.tid != 0 && h.tid <= UINT32_MAX); /* ibacm compares the lower half */
	ck_assert_uint_eq(h.mask, mask);
	sa_record_get(sa_record_of(SA_PATH_RECORD), bytes + SA_DATA_AT, &r);
	return r;
}

/* The SA's answer to the i-th request; ibacm copies it over the request. */
static void
sa_answers(unsigned i, uint16_t status, const struct sa_path_record *r)
{
	uint8_t *bytes = (uint8_t *)&requests[i].mad.sa_mad;
	struct sa_header h;

	sa_header_get(bytes, &h);
	h.method = SA_GET_RESP;
	h.status = status;
	sa_header_put(bytes, &h);
	sa_record_put(sa_record_of(SA_PATH_RECORD), bytes + SA_DATA_AT, r);
	requests[i].handler(&requests[i].mad);
	ck_assert(requests[i].is_freed);
}

static const struct sa_path_record to_other = { .dgid = { PREFIX, 0x105 } },
				   to_far = { .dgid = { PREFIX, 0x106 }, .pkey = 0x7fff },
				   from_sa = { .dlid = 6, .slid = 4, .reversible = 1, .mtu = 2 };

/* ---------------------------------------------------------------------- tests */

START_TEST(test_found)
{
	struct sa_path_record r;

	ck_assert_ptr_nonnull(strstr(log_text, "opts:3: fmd_max_age is \"x\""));
	resolve(path_msg(&to_other, ACM_FLAGS_NODELAY));
	r = answer(1, ACM_STATUS_SUCCESS, 1);
	ck_assert(r.slid == 4 && r.dlid == 5 && r.sl == 3 && r.mtu == 4 && r.reversible);
	ck_assert_uint_eq(answered.msg.hdr.tid, 99);
	ck_assert_uint_eq(data_of(&answered.msg)[0].type, ACM_EP_INFO_PATH);
	ck_assert_uint_eq(data_of(&answered.msg)[0].flags,
	    IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL);
	/* by name, with the source that ibacm chose */
	resolve(name_msg("other", 0));
	r = answer(2, ACM_STATUS_SUCCESS, 2);
	ck_assert_uint_eq(r.dlid, 5);
	ck_assert_uint_eq(data_of(&answered.msg)[1].flags, ACM_EP_FLAG_SOURCE);
	ck_assert_str_eq((char *)data_of(&answered.msg)[1].info.name, "self");
	/* of the ports of a name the one with a path */
	resolve(name_msg("mixed", 0));
	r = answer(3, ACM_STATUS_SUCCESS, 2);
	ck_assert_uint_eq(r.dlid, 5);
	ck_assert(!answered.is_query && n_requests == 0);
}
END_TEST

START_TEST(test_asked)
{
	struct sa_path_record r;

	resolve(path_msg(&to_far, 0));
	r = sent(0, SA_PR_DGID | SA_PR_SGID | SA_PR_PKEY);
	ck_assert(r.sgid.guid == 0x104 && r.dgid.guid == 0x106 && r.pkey == 0x7fff);
	ck_assert_uint_eq(answered.n, 0);
	sa_answers(0, SA_OK, &from_sa);
	r = answer(1, ACM_STATUS_SUCCESS, 1);
	ck_assert(!answered.is_query && r.dlid == 6 && r.mtu == 2);

	resolve(name_msg("far", 0));
	r = sent(1, SA_PR_DGID | SA_PR_SGID | SA_PR_PKEY | SA_PR_REVERSIBLE);
	ck_assert(r.dgid.guid == 0x106 && r.pkey == 0xffff && r.reversible);
	sa_answers(1, SA_OK, &from_sa);
	answer(2, ACM_STATUS_SUCCESS, 2);

	/* one way only */
	resolve(path_msg(&to_far, 0));
	sa_answers(2, SA_OK, &to_far);
	answer(3, ACM_STATUS_SUCCESS, 1);
	ck_assert_uint_eq(
	    data_of(&answered.msg)[0].flags, IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_OUTBOUND);
}
END_TEST

/* A query is the SA's, and answered as one. */
START_TEST(test_query)
{
	struct acm_msg msg = path_msg(&to_other, ACM_FLAGS_QUERY_SA);

	ck_assert_int_eq(provider->query(addr, &msg, CLIENT), 0);
	sent(0, SA_PR_DGID | SA_PR_SGID);
	sa_answers(0, SA_OK, &from_sa);
	answer(1, ACM_STATUS_SUCCESS, 1);
	ck_assert(answered.is_query);
}
END_TEST

START_TEST(test_sa_fails)
{
	static const struct {
		uint16_t sa;
		uint8_t acm;
	} rows[] = { { SA_NO_RECORDS, ACM_STATUS_ENODATA }, { SA_NO_RESOURCES, ACM_STATUS_ENOMEM },
		{ SA_REQ_INVALID, ACM_STATUS_EINVAL },
		{ SA_REQ_INSUFFICIENT_COMPONENTS, ACM_STATUS_EINVAL },
		{ SA_REQ_INVALID_GID, ACM_STATUS_ENODATA },
		{ WIRE_STATUS_BUSY, ACM_STATUS_ENODATA } };
	unsigned i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		resolve(path_msg(&to_far, 0));
		sa_answers(i, rows[i].sa, &from_sa);
		answer(i + 1, rows[i].acm, 0);
	}
	resolve(path_msg(&to_far, 0)); /* silent */
	requests[i].mad.umad.status = 110;
	requests[i].handler(&requests[i].mad);
	answer(i + 1, ACM_STATUS_ETIMEDOUT, 0);
	resolve(path_msg(&to_far, 0)); /* an answer that is none */
	requests[i + 1].handler(&requests[i + 1].mad);
	answer(i + 2, ACM_STATUS_ENODATA, 0);
}
END_TEST

START_TEST(test_not_asked)
{
	resolve(path_msg(&to_far, ACM_FLAGS_NODELAY));
	answer(1, ACM_STATUS_ENODATA, 0);
	resolve(name_msg("far", ACM_FLAGS_NODELAY));
	answer(2, ACM_STATUS_ENODATA, 0);
	resolve(name_msg("nobody", 0));
	answer(3, ACM_STATUS_ENODATA, 0);
	ck_assert_uint_eq(n_requests, 0);
	no_sending = true;
	resolve(path_msg(&to_far, 0));
	answer(4, ACM_STATUS_ENODATA, 0);
	ck_assert(n_requests == 1 && requests[0].is_freed);
	no_memory = true;
	resolve(path_msg(&to_far, 0));
	answer(5, ACM_STATUS_ENOMEM, 0);
}
END_TEST

/* The endpoint is closed while the SA is asked: its LID has changed. */
START_TEST(test_closed_meanwhile)
{
	resolve(path_msg(&to_far, 0));
	provider->remove_address(addr);
	provider->close_endpoint(context);
	sa_answers(0, SA_NO_RECORDS, &from_sa);
	answer(1, ACM_STATUS_ENODATA, 0);
}
END_TEST

/* A LID of two: the SA chooses what the other side has. */
START_TEST(test_several_lids)
{
	struct sa_path_record by_lid = { .dlid = 3 }, both = { .slid = 4, .dlid = 3 },
			      by_gid = { .dgid = { PREFIX, 0x102 } }, r;

	resolve(path_msg(&both, 0));
	r = answer(1, ACM_STATUS_SUCCESS, 1);
	ck_assert_uint_eq(r.dlid, 3);
	resolve(path_msg(&by_gid, 0));
	r = answer(2, ACM_STATUS_SUCCESS, 1);
	ck_assert_uint_eq(r.dlid, 2);
	resolve(path_msg(&by_lid, 0));
	sent(0, SA_PR_DLID | SA_PR_SGID);
}
END_TEST

/* Named twice: whether the two agree is the SA's to say. */
START_TEST(test_named_twice)
{
	struct sa_path_record want = { .dgid = { PREFIX, 0x105 }, .dlid = 6 };

	resolve(path_msg(&want, 0));
	sent(0, SA_PR_DLID | SA_PR_DGID | SA_PR_SGID);
}
END_TEST

/* What is in a request and no file can tell goes to the SA as it is. */
START_TEST(test_components)
{
	static const struct {
		struct sa_path_record want;
		uint64_t mask;
	} rows[] = { { { .raw_traffic = 1 }, SA_PR_RAW_TRAFFIC }, { { .sl = 1 }, SA_PR_SL },
		{ { .mtu = 1 }, SA_PR_MTU_SELECTOR | SA_PR_MTU },
		{ { .rate_selector = SA_LARGEST }, SA_PR_RATE_SELECTOR | SA_PR_RATE },
		{ { .life_selector = SA_LARGEST }, SA_PR_LIFE_SELECTOR | SA_PR_LIFE } };

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sa_path_record want = rows[i].want;

		n_requests = n_sent = 0;
		want.dgid = to_other.dgid;
		want.n_paths = 1; /* more than one are not asked for anyhow */
		resolve(path_msg(&want, 0));
		sent(0, SA_PR_DGID | SA_PR_SGID | rows[i].mask);
		sa_answers(0, SA_OK, &from_sa);
	}
}
END_TEST

/* What changes nothing where no policy is in force comes back, or not, as from the SA; the
 * kernel's RDMA CM always names a service. */
START_TEST(test_without_policy)
{
	struct sa_path_record want = { .dgid = to_other.dgid,
		.service_id = 77,
		.tclass = 5,
		.flow_label = 6,
		.qos_class = 7,
		.hop_limit = 8 },
			      r;

	resolve(path_msg(&want, 0));
	r = answer(1, ACM_STATUS_SUCCESS, 1);
	ck_assert(r.tclass == 5 && r.flow_label == 6 && r.qos_class == 7);
	ck_assert(r.service_id == 0 && r.hop_limit == 0);
	want.dgid = to_far.dgid; /* the SA is asked by all of it */
	resolve(path_msg(&want, 0));
	sent(0,
	    SA_PR_DGID | SA_PR_SGID | SA_PR_SERVICE_ID | SA_PR_TCLASS | SA_PR_FLOW_LABEL |
		SA_PR_QOS_CLASS | SA_PR_HOP_LIMIT);
}
END_TEST

/* Names without an end, numbers of addresses that are not there. */
START_TEST(test_odd_forms)
{
	struct acm_msg msg = name_msg("other", 0);

	memset(data_of(&msg)[0].info.name, 'x', ACM_MAX_ADDRESS);
	resolve(msg);
	answer(1, ACM_STATUS_ENODATA, 0);
	msg = name_msg("other", 0);
	msg.hdr.src_index = 8; /* behind the last: ibacm does so with eight addresses */
	resolve(msg);
	answer(2, ACM_STATUS_SUCCESS, 1);
	msg = name_msg("other", 0);
	data_of(&msg)[0].type = 77;
	resolve(msg);
	answer(3, ACM_STATUS_ENODATA, 0);
}
END_TEST

START_TEST(test_counters)
{
	uint64_t values[ACM_MAX_COUNTER];
	uint8_t n;

	resolve(path_msg(&to_other, 0));
	resolve(name_msg("other", 0));
	resolve(name_msg("nobody", 0));
	resolve(path_msg(&to_far, 0));
	requests[0].mad.umad.status = 110;
	requests[0].handler(&requests[0].mad);
	provider->query_perf(context, values, &n);
	ck_assert_uint_eq(n, ACM_MAX_COUNTER);
	ck_assert_uint_eq(be64toh(values[ACM_CNTR_RESOLVE]), 4);
	ck_assert_uint_eq(be64toh(values[ACM_CNTR_ROUTE_CACHE]), 2);
	ck_assert_uint_eq(be64toh(values[ACM_CNTR_ADDR_CACHE]), 1);
	ck_assert_uint_eq(be64toh(values[ACM_CNTR_ROUTE_QUERY]), 1);
	ck_assert_uint_eq(be64toh(values[ACM_CNTR_NODATA]), 1);
	ck_assert_uint_eq(be64toh(values[ACM_CNTR_ERROR]), 1);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("acm");
	TCase *t = tcase_create("acm");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_found);
	tcase_add_test(t, test_asked);
	tcase_add_test(t, test_query);
	tcase_add_test(t, test_sa_fails);
	tcase_add_test(t, test_not_asked);
	tcase_add_test(t, test_closed_meanwhile);
	tcase_add_test(t, test_several_lids);
	tcase_add_test(t, test_named_twice);
	tcase_add_test(t, test_components);
	tcase_add_test(t, test_without_policy);
	tcase_add_test(t, test_odd_forms);
	tcase_add_test(t, test_counters);
	suite_add_tcase(s, t);
	return run_suite(s);
}
