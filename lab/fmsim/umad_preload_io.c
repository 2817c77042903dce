/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libfmsim-umad.so, second half: open ports, MADs, and the issm devices.
 *
 * A port id is the descriptor of a connection to fmsim, as it is that of a
 * device with libibumad: whoever polls it sees MADs arrive.  A message that is
 * longer than the reader's buffer stays here and is given again (ENOSPC, as
 * the kernel does it).
 */
#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "lab/fmsim/umad_client.h"
#include "lab/fmsim/umad_preload.h"

#define MAX_FDS 1024
#define MAD_HEADER_BYTES 256 /* of a long message: what ENOSPC still gives */

struct port {
	pthread_mutex_t sending, receiving;
	uint32_t file;		 /* its number in calls */
	struct fmsim_frame kept; /* under receiving: what did not fit */
	uint8_t *kept_bytes;	 /* NULL, least, or of a longer message */
	uint8_t least[FMSIM_LEAST_BYTES];
};

static struct port *ports[MAX_FDS]; /* by descriptor */

static struct port *
port_of(int fd)
{
	return fd >= 0 && fd < MAX_FDS ? __atomic_load_n(&ports[fd], __ATOMIC_ACQUIRE) : NULL;
}

/* Both ways at once: the errno, and it negative. */
static int
fail(int error)
{
	errno = error;
	return -error;
}

static void
forget_kept(struct port *p)
{
	if (p->kept_bytes != p->least)
		free(p->kept_bytes);
	p->kept_bytes = NULL;
}

/* ------------------------------------------------------------ open and close */

static int
connect_at(uint32_t kind, int port, struct fmsim_welcome *w)
{
	struct fmsim_hello hello = { .kind = kind, .port = (uint32_t)port };

	snprintf(hello.node, sizeof(hello.node), "%s", fmsim_node());
	return fmsim_connect(fmsim_default_path(), &hello, w);
}

EXPORT int
umad_open_port(const char *ca_name, int portnum)
{
	int port = fmsim_find_port(ca_name, portnum), fd;
	struct fmsim_welcome w;
	struct port *p;

	if (port < 0)
		return fail(-port);
	fd = connect_at(FMSIM_FILE, port, &w);
	if (fd < 0)
		return fail(-fd);
	p = fd < MAX_FDS ? calloc(1, sizeof(*p)) : NULL;
	if (p == NULL) {
		close(fd);
		return fail(EMFILE);
	}
	pthread_mutex_init(&p->sending, NULL);
	pthread_mutex_init(&p->receiving, NULL);
	p->file = w.file;
	__atomic_store_n(&ports[fd], p, __ATOMIC_RELEASE);
	return fd;
}

EXPORT int
umad_close_port(int fd)
{
	struct port *p = port_of(fd);

	if (p == NULL)
		return fail(EINVAL);
	__atomic_store_n(&ports[fd], NULL, __ATOMIC_RELEASE);
	close(fd);
	pthread_mutex_destroy(&p->sending);
	pthread_mutex_destroy(&p->receiving);
	forget_kept(p);
	free(p);
	return 0;
}

EXPORT int
umad_get_fd(int fd)
{
	return fd;
}

/* ------------------------------------------------------------------ buffers */

EXPORT size_t
umad_size(void)
{
	return sizeof(struct ib_user_mad);
}

EXPORT void *
umad_get_mad(void *umad)
{
	return ((struct ib_user_mad *)umad)->data;
}

EXPORT ib_mad_addr_t *
umad_get_mad_addr(void *umad)
{
	return &((struct ib_user_mad *)umad)->addr;
}

EXPORT int
umad_status(void *umad)
{
	return (int)((struct ib_user_mad *)umad)->status;
}

EXPORT int
umad_set_addr_net(void *umad, __be16 dlid, __be32 dqp, int sl, __be32 qkey)
{
	ib_mad_addr_t *a = umad_get_mad_addr(umad);

	a->lid = dlid;
	a->qpn = dqp;
	a->sl = (uint8_t)sl;
	a->qkey = qkey;
	return 0;
}

EXPORT int
umad_set_addr(void *umad, int dlid, int dqp, int sl, int qkey)
{
	return umad_set_addr_net(
	    umad, htobe16((uint16_t)dlid), htobe32((uint32_t)dqp), sl, htobe32((uint32_t)qkey));
}

EXPORT int
umad_set_grh_net(void *umad, void *mad_addr)
{
	ib_mad_addr_t *a = umad_get_mad_addr(umad), *from = mad_addr;

	a->grh_present = from != NULL;
	if (from == NULL)
		return 0;
	memcpy(a->gid, from->gid, sizeof(a->gid));
	a->flow_label = from->flow_label;
	a->gid_index = from->gid_index;
	a->hop_limit = from->hop_limit;
	a->traffic_class = from->traffic_class;
	return 0;
}

EXPORT int
umad_set_grh(void *umad, void *mad_addr)
{
	umad_set_grh_net(umad, mad_addr);
	if (mad_addr != NULL)
		umad_get_mad_addr(umad)->flow_label =
		    htobe32(((ib_mad_addr_t *)mad_addr)->flow_label);
	return 0;
}

EXPORT int
umad_set_pkey(void *umad, int pkey_index)
{
	umad_get_mad_addr(umad)->pkey_index = (uint16_t)pkey_index;
	return 0;
}

EXPORT int
umad_get_pkey(void *umad)
{
	return umad_get_mad_addr(umad)->pkey_index;
}

/* ------------------------------------------------------------- send, receive */

EXPORT int
umad_send(int fd, int agent, void *umad, int length, int timeout_ms, int retries)
{
	struct ib_user_mad *m = umad;
	struct port *p = port_of(fd);
	struct fmsim_frame f = { .length = (uint32_t)length,
		.agent = (uint32_t)agent,
		.timeout_ms = (uint32_t)timeout_ms,
		.retries = (uint32_t)retries };
	int rc;

	if (p == NULL || length < 0)
		return fail(EINVAL);
	m->agent_id = (uint32_t)agent;
	m->timeout_ms = f.timeout_ms;
	m->retries = f.retries;
	f.qpn = be32toh(m->addr.qpn);
	f.qkey = be32toh(m->addr.qkey);
	f.lid = be16toh(m->addr.lid);
	f.pkey_index = m->addr.pkey_index;
	f.sl = m->addr.sl;
	f.path_bits = m->addr.path_bits;
	pthread_mutex_lock(&p->sending);
	rc = fmsim_write_frame(fd, &f, m->data);
	pthread_mutex_unlock(&p->sending);
	return rc != 0 ? fail(-rc) : 0;
}

/* Is there something, within so many ms (< 0: for ever)?  0 or an errno. */
static int
wait_for(int fd, int timeout_ms)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };
	int n = poll(&one, 1, timeout_ms);

	if (n < 0)
		return errno;
	return n == 0 ? ETIMEDOUT : 0;
}

EXPORT int
umad_poll(int fd, int timeout_ms)
{
	struct port *p = port_of(fd);
	bool kept;
	int rc;

	if (p == NULL)
		return fail(EINVAL);
	pthread_mutex_lock(&p->receiving);
	kept = p->kept_bytes != NULL;
	pthread_mutex_unlock(&p->receiving);
	rc = kept ? 0 : wait_for(fd, timeout_ms);
	return rc != 0 ? fail(rc) : 0;
}

static void
fill_umad(struct ib_user_mad *m, const struct fmsim_frame *f, size_t n_bytes)
{
	m->agent_id = f->agent;
	m->status = f->status;
	m->timeout_ms = m->retries = 0;
	m->length = (uint32_t)(sizeof(*m) + f->length);
	memset(&m->addr, 0, sizeof(m->addr));
	m->addr.qpn = htobe32(f->qpn);
	m->addr.qkey = htobe32(f->qkey);
	m->addr.lid = htobe16(f->lid);
	m->addr.sl = f->sl;
	m->addr.path_bits = f->path_bits;
	m->addr.pkey_index = f->pkey_index;
}

/* The rest of a frame of which n bytes have come, header and least[] after one another. */
static int
fetch_rest(int fd, struct port *p, size_t n)
{
	size_t n_head = sizeof(p->kept);
	int rc = 0;

	if (n < n_head) {
		rc = fmsim_read(fd, (uint8_t *)&p->kept + n, n_head - n);
		n = n_head;
	}
	if (rc == 0 && n < n_head + sizeof(p->least))
		rc = fmsim_read(fd, p->least + (n - n_head), n_head + sizeof(p->least) - n);
	if (rc != 0 || p->kept.length <= sizeof(p->least)) {
		p->kept_bytes = rc == 0 ? p->least : NULL;
		return -rc;
	}
	p->kept_bytes = malloc(p->kept.length);
	if (p->kept_bytes == NULL)
		return ENOMEM;
	memcpy(p->kept_bytes, p->least, sizeof(p->least));
	return -fmsim_read(fd, p->kept_bytes + sizeof(p->least), p->kept.length - sizeof(p->least));
}

/* The next frame into p->kept, under p->receiving: 0 or an errno; EAGAIN when
 * another thread was faster. */
static int
fetch(int fd, struct port *p)
{
	struct iovec part[] = { { &p->kept, sizeof(p->kept) }, { p->least, sizeof(p->least) } };
	struct msghdr m = { .msg_iov = part, .msg_iovlen = 2 };
	ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT);

	if (n <= 0)
		return n == 0 ? ENODEV : errno;
	return fetch_rest(fd, p, (size_t)n);
}

/* What is kept into the reader's buffer; it stays kept if that is too small. */
static int
deliver(struct port *p, struct ib_user_mad *m, int *length)
{
	uint32_t n = p->kept.length, room = *length > 0 ? (uint32_t)*length : 0;
	uint32_t n_first = n < MAD_HEADER_BYTES ? n : MAD_HEADER_BYTES;

	if (room < n_first)
		return fail(EINVAL);
	fill_umad(m, &p->kept, n);
	*length = (int)n;
	if (room < n) {
		memcpy(m->data, p->kept_bytes, n_first);
		return fail(ENOSPC);
	}
	memcpy(m->data, p->kept_bytes, n);
	forget_kept(p);
	return (int)m->agent_id;
}

EXPORT int
umad_recv(int fd, void *umad, int *length, int timeout_ms)
{
	struct port *p = port_of(fd);
	int rc = 0, agent = 0;

	errno = 0;
	if (p == NULL || umad == NULL || length == NULL)
		return fail(EINVAL);
	do {
		if (timeout_ms != 0 && umad_poll(fd, timeout_ms) < 0)
			return -errno;
		pthread_mutex_lock(&p->receiving);
		rc = p->kept_bytes == NULL ? fetch(fd, p) : 0;
		if (rc == 0)
			agent = deliver(p, umad, length);
		pthread_mutex_unlock(&p->receiving);
	} while (rc == EAGAIN && timeout_ms < 0);
	return rc != 0 ? fail(rc) : agent;
}

/* -------------------------------------------------------------------- agents */

static int
do_register(int fd, struct fmsim_call *call)
{
	struct port *p = port_of(fd);

	if (p == NULL)
		return -EINVAL;
	call->op = FMSIM_REGISTER;
	call->file = p->file;
	return fmsim_do_call(call, NULL);
}

static void
set_methods(struct fmsim_call *call, const long *mask)
{
	const unsigned bits = 8 * sizeof(long);

	for (unsigned m = 0; mask != NULL && m < 128; m++)
		if (mask[m / bits] >> (m % bits) & 1)
			call->methods[m / 64] |= UINT64_C(1) << (m % 64);
}

EXPORT int
umad_register(int fd, int mgmt_class, int mgmt_version, uint8_t rmpp_version,
    long method_mask[16 / sizeof(long)])
{
	struct fmsim_call call = { .mgmt_class = (uint8_t)mgmt_class,
		.class_version = (uint8_t)mgmt_version,
		.rmpp_version = rmpp_version };
	int rc;

	set_methods(&call, method_mask);
	rc = do_register(fd, &call);
	return rc < 0 ? fail(EPERM) : rc;
}

EXPORT int
umad_register_oui(int fd, int mgmt_class, uint8_t rmpp_version, uint8_t oui[3],
    long method_mask[16 / sizeof(long)])
{
	struct fmsim_call call = { .mgmt_class = (uint8_t)mgmt_class,
		.class_version = 1,
		.rmpp_version = rmpp_version,
		.oui = (uint32_t)oui[0] << 16 | (uint32_t)oui[1] << 8 | oui[2] };
	int rc;

	if (mgmt_class < 0x30 || mgmt_class > 0x4f)
		return fail(EINVAL);
	set_methods(&call, method_mask);
	rc = do_register(fd, &call);
	return rc < 0 ? fail(EPERM) : rc;
}

EXPORT int
umad_register2(int fd, struct umad_reg_attr *attr, uint32_t *agent_id)
{
	struct fmsim_call call = { .mgmt_class = attr->mgmt_class,
		.class_version = attr->mgmt_class_version,
		.rmpp_version = attr->rmpp_version,
		.user_rmpp = (attr->flags & UMAD_USER_RMPP) != 0,
		.oui = attr->oui,
		.methods = { attr->method_mask[0], attr->method_mask[1] } };
	int rc;

	if (attr->flags & ~(uint32_t)UMAD_USER_RMPP) {
		attr->flags = UMAD_USER_RMPP; /* what is known */
		return EINVAL;
	}
	rc = do_register(fd, &call);
	if (rc < 0)
		return -rc; /* this one call gives errnos as they are */
	*agent_id = (uint32_t)rc;
	return 0;
}

EXPORT int
umad_unregister(int fd, int agent)
{
	struct fmsim_call call = { .op = FMSIM_UNREGISTER, .agent = (uint32_t)agent };
	struct port *p = port_of(fd);
	int rc;

	if (p == NULL)
		return fail(EINVAL);
	call.file = p->file;
	rc = fmsim_do_call(&call, NULL);
	return rc < 0 ? fail(-rc) : 0;
}

/* ------------------------------------------------------------------ printing */

EXPORT int
umad_debug(int level)
{
	return 0;
}

EXPORT void
umad_addr_dump(ib_mad_addr_t *a)
{
	fprintf(stderr, "qpn %u qkey 0x%x lid %u sl %u path bits %u pkey index %u grh %u\n",
	    be32toh(a->qpn), be32toh(a->qkey), be16toh(a->lid), a->sl, a->path_bits, a->pkey_index,
	    a->grh_present);
}

EXPORT void
umad_dump(void *umad)
{
	const struct ib_user_mad *m = umad;

	fprintf(stderr, "agent %u status 0x%x timeout %u ms, %u bytes\n", m->agent_id, m->status,
	    m->timeout_ms, m->length);
	umad_addr_dump(umad_get_mad_addr(umad));
}

/* -------------------------------------------------------------------- issm */

/* -2: not one of ours. */
static int
open_issm(const char *path)
{
	size_t n = strlen(FMSIM_ISSM_PATH);
	struct fmsim_welcome w;
	int fd;

	if (strncmp(path, FMSIM_ISSM_PATH, n) != 0)
		return -2;
	fd = connect_at(FMSIM_ISSM, (int)strtol(path + n, NULL, 10), &w);
	if (fd >= 0)
		return fd;
	errno = -fd;
	return -1;
}

typedef int open_fn(const char *path, int flags, ...);

static int
open_next(const char *name, const char *path, int flags, mode_t mode)
{
	open_fn *next = NULL;
	int fd = open_issm(path);

	if (fd == -2)
		fd = fmsim_open_sysfs(path);
	if (fd != -2)
		return fd;
	*(void **)&next = dlsym(RTLD_NEXT, name);
	return next(path, flags, mode);
}

#define MODE_OF(flags, mode) \
	do { \
		va_list ap; \
\
		va_start(ap, flags); \
		if ((flags) & (O_CREAT | O_TMPFILE)) \
			(mode) = va_arg(ap, mode_t); \
		va_end(ap); \
	} while (0)

#undef open
#undef open64
int open64(const char *path, int flags, ...);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);

EXPORT int
open(const char *path, int flags, ...)
{
	mode_t mode = 0;

	MODE_OF(flags, mode);
	return open_next("open", path, flags, mode);
}

EXPORT int
open64(const char *path, int flags, ...)
{
	mode_t mode = 0;

	MODE_OF(flags, mode);
	return open_next("open64", path, flags, mode);
}

/* What fortified programs call. */
EXPORT int
__open_2(const char *path, int flags)
{
	return open_next("open", path, flags, 0);
}

EXPORT int
__open64_2(const char *path, int flags)
{
	return open_next("open64", path, flags, 0);
}
