/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host/acm/acm.c - libfmdacm.so, a provider for ibacm.
 *
 * Requests come by resolve() and query(), on ibacm's one server thread, which may not wait:
 *
 *	resolve		a path by GIDs, LIDs, a name or an IP address.  What the file of paths
 *			tells is answered at once, all else is asked of the SA and answered on
 *			the thread that receives its answer.
 *	query		what the SA says, whatever is in the file: who asks so wants to compare.
 *
 * The two are answered by different functions of ibacm: a resolve of the kernel is answered by
 * netlink.  A file that is too old tells who is meant by a name or an address, not the way there.
 * There is no multicast and no queue pair: MADs to the SA are all that is sent, and they are
 * ibacm's.
 */
#include <infiniband/acm_prov.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/acm/acm_file.h"

#define PROVIDER_VERSION 1 /* of the interface that this file is written for */
#define MOST_PORTS 16	   /* of a name that are tried */
#define MOST_DATA (ACM_MSG_DATA_LENGTH / ACM_MSG_EP_LENGTH)

_Static_assert(offsetof(struct umad_sa_packet, data) == SA_DATA_AT, "an SA's MAD");
_Static_assert(sizeof(struct ibv_path_record) == 64, "a PathRecord");

/* What a file can judge; a request with more in it is the SA's.  Where a policy decides by service
 * or class, the file says of all paths that the SA has to be asked. */
#define JUDGED \
	(SA_PR_DGID | SA_PR_SGID | SA_PR_DLID | SA_PR_SLID | SA_PR_REVERSIBLE | SA_PR_N_PATHS | \
	    SA_PR_PKEY | SA_PR_SERVICE_ID | SA_PR_QOS_CLASS | SA_PR_TCLASS | SA_PR_FLOW_LABEL | \
	    SA_PR_HOP_LIMIT)

/* A port's side in one partition; requests at the SA outlive it. */
struct endpoint {
	const struct acm_endpoint *acm; /* ibacm's, until it is closed */
	atomic_uint refs;
	atomic_ullong counter[ACM_MAX_COUNTER];
};

typedef int (*respond)(uint64_t id, struct acm_msg *msg);

/* A request that is at the SA. */
struct asked {
	struct endpoint *ep;
	respond respond;
	uint64_t id;
	struct acm_msg msg;
};

static struct acm_file file; /* the server thread's */

/* ------------------------------------------------------------------ endpoints */

static void
count(struct endpoint *ep, int what)
{
	atomic_fetch_add_explicit(&ep->counter[what], 1, memory_order_relaxed);
	/* those of the whole service; ibacm counts requests and failures itself */
	if (what > ACM_CNTR_NODATA)
		acm_increment_counter(what);
}

static void
put_endpoint(struct endpoint *ep)
{
	if (atomic_fetch_sub(&ep->refs, 1) == 1)
		free(ep);
}

static int
open_endpoint(const struct acm_endpoint *acm, void *port, void **out)
{
	struct endpoint *ep = calloc(1, sizeof(*ep));

	(void)port;
	if (ep == NULL)
		return ACM_STATUS_ENOMEM;
	ep->acm = acm;
	atomic_init(&ep->refs, 1);
	*out = ep;
	return 0;
}

static void
close_endpoint(void *ep)
{
	put_endpoint(ep);
}

static struct sa_gid
own_gid(const struct endpoint *ep)
{
	union ibv_gid gid = { 0 };

	acm_get_gid(ep->acm->port, 0, &gid);
	return sa_gid_get(gid.raw);
}

/* ------------------------------------------------------------------- answers */

/* [MOST_DATA] of a message. */
static const struct acm_ep_addr_data *
data_of(const struct acm_msg *msg)
{
	return (const struct acm_ep_addr_data *)msg->data;
}

/* To a resolve: the 64 bytes of a PathRecord, or why there are none. */
static int
answer(struct endpoint *ep, respond by, uint64_t id, const struct acm_msg *req, uint8_t status,
    const void *record)
{
	struct acm_msg msg = { .hdr = req->hdr };
	const struct ibv_path_record *path = record;
	struct acm_ep_addr_data *to = (struct acm_ep_addr_data *)msg.data;

	msg.hdr.opcode |= ACM_OP_ACK;
	msg.hdr.status = status;
	msg.hdr.length = ACM_MSG_HDR_LENGTH;
	memset(msg.hdr.data, 0, sizeof(msg.hdr.data));
	if (status != ACM_STATUS_SUCCESS) {
		count(ep, status == ACM_STATUS_ENODATA ? ACM_CNTR_NODATA : ACM_CNTR_ERROR);
		return by(id, &msg);
	}
	msg.hdr.length += ACM_MSG_EP_LENGTH;
	memcpy(&to[0].info, record, sizeof(*path));
	to[0].type = ACM_EP_INFO_PATH;
	to[0].flags = IBV_PATH_FLAG_PRIMARY |
	    (path->reversible_numpath & IBV_PATH_RECORD_REVERSIBLE
		    ? IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_BIDIRECTIONAL
		    : IBV_PATH_FLAG_OUTBOUND);
	/* ibacm has chosen the source, which the client wants to know */
	if (data_of(req)[0].type != ACM_EP_INFO_PATH && req->hdr.src_out != 0 &&
	    req->hdr.src_index < MOST_DATA) {
		msg.hdr.length += ACM_MSG_EP_LENGTH;
		to[1] = data_of(req)[req->hdr.src_index];
	}
	return by(id, &msg);
}

/* -------------------------------------------------------------------- the SA */

static uint8_t
status_of(uint16_t sa)
{
	switch (sa) {
	case SA_OK:
		return ACM_STATUS_SUCCESS;
	case SA_NO_RESOURCES:
		return ACM_STATUS_ENOMEM;
	case SA_REQ_INVALID:
	case SA_REQ_INSUFFICIENT_COMPONENTS:
		return ACM_STATUS_EINVAL;
	default: /* busy as well: who asked may ask again */
		return ACM_STATUS_ENODATA;
	}
}

static void
sa_has_answered(struct acm_sa_mad *mad)
{
	const uint8_t *bytes = (const uint8_t *)&mad->sa_mad;
	struct asked *a = mad->context;
	uint8_t status = ACM_STATUS_ETIMEDOUT;
	struct sa_header h;

	sa_header_get(bytes, &h);
	if (mad->umad.status == 0)
		status = h.attr == SA_PATH_RECORD && h.method == SA_GET_RESP ? status_of(h.status)
									     : ACM_STATUS_ENODATA;
	answer(a->ep, a->respond, a->id, &a->msg, status, bytes + SA_DATA_AT);
	put_endpoint(a->ep);
	free(a);
	acm_free_sa_mad(mad);
}

static void
compose(struct acm_sa_mad *mad, const struct sa_path_record *want, uint64_t mask)
{
	static atomic_uint tid; /* ibacm compares 32 bits of it */
	uint8_t *bytes = (uint8_t *)&mad->sa_mad;
	struct sa_header h = { .base_version = 1,
		.mgmt_class = WIRE_CLASS_SA,
		.class_version = SA_CLASS_VERSION,
		.method = SA_GET,
		.attr = SA_PATH_RECORD,
		.tid = atomic_fetch_add(&tid, 1) + 1,
		.mask = mask };

	sa_header_put(bytes, &h);
	sa_record_put(sa_record_of(SA_PATH_RECORD), bytes + SA_DATA_AT, want);
}

static int
ask(struct endpoint *ep, respond by, uint64_t id, const struct acm_msg *msg,
    const struct sa_path_record *want, uint64_t mask)
{
	struct asked *a = malloc(sizeof(*a));
	struct acm_sa_mad *mad;

	if (a == NULL)
		return answer(ep, by, id, msg, ACM_STATUS_ENOMEM, NULL);
	*a = (struct asked){ ep, by, id, *msg };
	mad = acm_alloc_sa_mad(ep->acm, a, sa_has_answered);
	if (mad != NULL) {
		compose(mad, want, mask);
		count(ep, ACM_CNTR_ROUTE_QUERY);
		atomic_fetch_add(&ep->refs, 1);
		if (acm_send_sa_mad(mad) == 0)
			return 0;
		put_endpoint(ep);
		acm_free_sa_mad(mad);
	}
	free(a);
	return answer(ep, by, id, msg, mad != NULL ? ACM_STATUS_ENODATA : ACM_STATUS_ENOMEM, NULL);
}

/* ------------------------------------------------------------------- requests */

/* The components that a request asks by: what is not 0.  A selector goes with its value. */
static uint64_t
components(const struct sa_path_record *w)
{
	const struct {
		uint64_t is_asked, component;
	} rows[] = { { w->service_id, SA_PR_SERVICE_ID },
		{ w->dgid.prefix | w->dgid.guid, SA_PR_DGID },
		{ w->sgid.prefix | w->sgid.guid, SA_PR_SGID }, { w->dlid, SA_PR_DLID },
		{ w->slid, SA_PR_SLID }, { w->raw_traffic, SA_PR_RAW_TRAFFIC },
		{ w->flow_label, SA_PR_FLOW_LABEL }, { w->hop_limit, SA_PR_HOP_LIMIT },
		{ w->tclass, SA_PR_TCLASS }, { w->reversible, SA_PR_REVERSIBLE },
		{ w->pkey, SA_PR_PKEY }, { w->qos_class, SA_PR_QOS_CLASS }, { w->sl, SA_PR_SL },
		{ w->mtu_selector | w->mtu, SA_PR_MTU_SELECTOR | SA_PR_MTU },
		{ w->rate_selector | w->rate, SA_PR_RATE_SELECTOR | SA_PR_RATE },
		{ w->life_selector | w->life, SA_PR_LIFE_SELECTOR | SA_PR_LIFE } };
	uint64_t mask = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].is_asked != 0)
			mask |= rows[i].component;
	return mask;
}

/* What a request for a path asks for; its own port is the source where it names none. */
static uint64_t
wanted(const struct endpoint *ep, const struct acm_msg *msg, struct sa_path_record *want)
{
	uint64_t mask;

	sa_record_get(sa_record_of(SA_PATH_RECORD), (const uint8_t *)&data_of(msg)[0].info, want);
	mask = components(want);
	if ((mask & (SA_PR_SGID | SA_PR_SLID)) == 0) {
		want->sgid = own_gid(ep);
		mask |= SA_PR_SGID;
	}
	return mask;
}

/* The LID of one side, by whichever of the two it is named; *lmc: of its port.  0: unknown, or
 * named twice. */
static uint16_t
side(const struct paths *p, uint64_t mask, uint64_t by_gid, struct sa_gid gid, uint64_t by_lid,
    uint16_t lid, uint8_t *lmc)
{
	struct blob_port port;

	if ((mask & (by_gid | by_lid)) == (by_gid | by_lid))
		return 0;
	if ((mask & by_gid) != 0)
		lid = paths_lid_of_gid(p, gid);
	if (!paths_port(p, lid, &port))
		return 0;
	*lmc = port.lmc;
	return lid;
}

/* The SA's record, from the file.  Where one side is a LID of several and the other is left
 * open, the SA chooses. */
static bool
look_up(const struct sa_path_record *want, uint64_t mask, struct sa_path_record *r)
{
	struct paths_query q = { .pkey = want->pkey };
	uint8_t lmc[2] = { 0, 0 };

	if (file.state != ACM_FILE_FRESH || (mask & ~(uint64_t)JUDGED) != 0)
		return false;
	q.slid = side(file.paths, mask, SA_PR_SGID, want->sgid, SA_PR_SLID, want->slid, &lmc[0]);
	q.dlid = side(file.paths, mask, SA_PR_DGID, want->dgid, SA_PR_DLID, want->dlid, &lmc[1]);
	if (q.slid == 0 || q.dlid == 0)
		return false;
	if ((lmc[0] | lmc[1]) != 0 && ((mask & SA_PR_SLID) != 0) != ((mask & SA_PR_DLID) != 0))
		return false;
	if (!paths_record(file.paths, &q, r))
		return false;
	/* as the SA gives them back; a GID may be an alias */
	if ((mask & SA_PR_SGID) != 0)
		r->sgid.guid = want->sgid.guid;
	if ((mask & SA_PR_DGID) != 0)
		r->dgid.guid = want->dgid.guid;
	r->tclass = want->tclass;
	r->flow_label = want->flow_label;
	r->qos_class = want->qos_class;
	return true;
}

static int
answer_found(
    struct endpoint *ep, uint64_t id, const struct acm_msg *msg, const struct sa_path_record *r)
{
	uint8_t bytes[sizeof(struct ibv_path_record)]
	    __attribute__((aligned(_Alignof(struct ibv_path_record))));

	sa_record_put(sa_record_of(SA_PATH_RECORD), bytes, r);
	count(ep, ACM_CNTR_ROUTE_CACHE);
	return answer(ep, acm_resolve_response, id, msg, ACM_STATUS_SUCCESS, bytes);
}

static int
resolve_path(struct endpoint *ep, struct acm_msg *msg, uint64_t id)
{
	struct sa_path_record want, r;
	uint64_t mask = wanted(ep, msg, &want);

	if (look_up(&want, mask, &r))
		return answer_found(ep, id, msg, &r);
	if ((data_of(msg)[0].flags & ACM_FLAGS_NODELAY) != 0)
		return answer(ep, acm_resolve_response, id, msg, ACM_STATUS_ENODATA, NULL);
	return ask(ep, acm_resolve_response, id, msg, &want, mask);
}

/* The GUIDs of who has a name, how many. */
static unsigned
of_name(const char *name, uint64_t guid[MOST_PORTS])
{
	uint16_t lid[MOST_PORTS];
	struct blob_port port;
	unsigned n = paths_lids_of_name(file.paths, name, lid, MOST_PORTS);

	n = n < MOST_PORTS ? n : MOST_PORTS;
	for (unsigned i = 0; i < n; i++)
		guid[i] = paths_port(file.paths, lid[i], &port) ? port.guid : 0;
	return n;
}

/* The GUID of who has an address; false: nobody that is there. */
static bool
of_ip(const uint8_t ip[16], uint64_t *guid)
{
	*guid = paths_guid_of_ip(file.paths, ip);
	return *guid != 0 && paths_lid_of_guid(file.paths, *guid) != 0;
}

/* Who is meant by a name or an address: GUIDs of ports, or aliases of them, how many. */
static unsigned
who(const struct acm_ep_addr_data *to, uint64_t guid[MOST_PORTS])
{
	uint8_t ip[16] = { [10] = 0xff, 0xff };
	char name[ACM_MAX_ADDRESS + 1];

	if (file.paths == NULL)
		return 0;
	switch (to->type) {
	case ACM_EP_INFO_NAME:
		snprintf(name, sizeof(name), "%.*s", ACM_MAX_ADDRESS, (const char *)to->info.name);
		return of_name(name, guid);
	case ACM_EP_INFO_ADDRESS_IP:
		memcpy(ip + 12, to->info.addr, 4);
		return of_ip(ip, guid);
	case ACM_EP_INFO_ADDRESS_IP6:
		return of_ip(to->info.addr, guid);
	}
	return 0;
}

/* To the first port of those with a path in the file; else the first is asked for. */
static int
resolve_dest(struct endpoint *ep, struct acm_msg *msg, uint64_t id)
{
	const struct acm_ep_addr_data *to = &data_of(msg)[msg->hdr.dst_index % MOST_DATA];
	const uint64_t mask = SA_PR_SGID | SA_PR_DGID | SA_PR_PKEY | SA_PR_REVERSIBLE;
	struct sa_path_record r,
	    want = { .sgid = own_gid(ep), .pkey = ep->acm->pkey, .reversible = 1 };
	uint64_t guid[MOST_PORTS];
	unsigned n = who(to, guid);

	if (n > 0)
		count(ep, ACM_CNTR_ADDR_CACHE);
	for (unsigned i = 0; i < n; i++) {
		want.dgid = (struct sa_gid){ paths_subnet(file.paths)->gid_prefix, guid[i] };
		if (look_up(&want, mask, &r))
			return answer_found(ep, id, msg, &r);
	}
	if (n == 0 || (to->flags & ACM_FLAGS_NODELAY) != 0)
		return answer(ep, acm_resolve_response, id, msg, ACM_STATUS_ENODATA, NULL);
	return ask(ep, acm_resolve_response, id, msg, &want, mask);
}

/* ------------------------------------------------------------------- provider */

static void
look_at_file(void)
{
	static const char *const words[] = {
		[ACM_FILE_NONE] = "there are none, the SA is asked",
		[ACM_FILE_STALE] = "they are too old, the SA is asked",
		[ACM_FILE_FRESH] = "they are up to date",
	};
	static int told = -1; /* the state in the log */
	struct fm_error err;

	if (!acm_file_look(&file, time(NULL), &err))
		return;
	if (err.msg[0] != '\0')
		acm_write(0, "fmdacm: %s\n", err.msg);
	if (told != (int)file.state)
		acm_write(0, "fmdacm: paths in %s: %s\n", file.options.path, words[file.state]);
	told = (int)file.state;
}

static int
resolve(void *ep, struct acm_msg *msg, uint64_t id)
{
	count(ep, ACM_CNTR_RESOLVE);
	look_at_file();
	return data_of(msg)[0].type == ACM_EP_INFO_PATH ? resolve_path(ep, msg, id)
							: resolve_dest(ep, msg, id);
}

static int
query(void *ep, struct acm_msg *msg, uint64_t id)
{
	struct sa_path_record want;
	uint64_t mask = wanted(ep, msg, &want);

	return ask(ep, acm_query_response, id, msg, &want, mask);
}

static void
query_perf(void *context, uint64_t *values, uint8_t *cnt)
{
	struct endpoint *ep = context;

	for (int i = 0; i < ACM_MAX_COUNTER; i++)
		values[i] = htobe64(atomic_load(&ep->counter[i]));
	*cnt = ACM_MAX_COUNTER;
}

/* ibacm wants a context of each, and takes NULL for none. */
static int
open_device(const struct acm_device *device, void **out)
{
	(void)device;
	*out = &file;
	return 0;
}

static int
open_port(const struct acm_port *port, void *device, void **out)
{
	(void)port;
	*out = device;
	return 0;
}

static int
add_address(const struct acm_address *address, void *ep, void **out)
{
	(void)address;
	*out = ep;
	return 0;
}

static void
nothing_to_close(void *context)
{
	(void)context;
}

/* What is registered with the SA again is nothing of ours. */
static int
handle_event(void *port, enum ibv_event_type type)
{
	(void)port;
	(void)type;
	return 0;
}

static void
read_options(void)
{
	const char *path = acm_get_opts_file();
	FILE *in = fopen(path, "re");
	struct fm_error err;
	unsigned number = 0;
	char line[512];

	acm_file_defaults(&file.options);
	while (in != NULL && fgets(line, sizeof(line), in) != NULL) {
		number++;
		if (acm_file_option(&file.options, line, &err) != 0)
			acm_write(0, "fmdacm: %s:%u: %s\n", path, number, err.msg);
	}
	if (in != NULL)
		fclose(in);
	acm_write(0, "fmdacm: paths are looked up in %s, which may be %u s old\n",
	    file.options.path, file.options.max_age_s);
}

__attribute__((visibility("default"))) int
provider_query(struct acm_provider **info, uint32_t *version)
{
	static struct acm_provider provider = { .size = sizeof(provider),
		.version = PROVIDER_VERSION,
		.name = "fmdacm",
		.open_device = open_device,
		.close_device = nothing_to_close,
		.open_port = open_port,
		.close_port = nothing_to_close,
		.open_endpoint = open_endpoint,
		.close_endpoint = close_endpoint,
		.add_address = add_address,
		.remove_address = nothing_to_close,
		.resolve = resolve,
		.query = query,
		.handle_event = handle_event,
		.query_perf = query_perf };

	read_options();
	*info = &provider;
	*version = PROVIDER_VERSION;
	return 0;
}
