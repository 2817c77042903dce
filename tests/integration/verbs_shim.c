/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_shim - what ibacm and librdmacm ask of libibverbs before any queue pair, answered as
 * libibumad sees the node (LD_PRELOAD, beside libfmsim-umad.so).
 *
 * VERBS_EVENTS=FIFO: a number written into it is an event of port 1 (enum ibv_event_type).
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#undef ibv_query_port

#define SHOWN __attribute__((visibility("default")))
#define MOST_DEVICES 8

static struct ibv_device devices[MOST_DEVICES];

SHOWN struct ibv_device **
ibv_get_device_list(int *n)
{
	struct ibv_device **list = calloc(MOST_DEVICES + 1, sizeof(struct ibv_device *));
	char names[MOST_DEVICES][UMAD_CA_NAME_LEN];
	int i, found;

	if (list == NULL)
		return NULL;
	umad_init();
	found = umad_get_cas_names(names, MOST_DEVICES);
	for (i = 0; i < found; i++) {
		memcpy(devices[i].name, names[i], sizeof(names[i]));
		devices[i].node_type = IBV_NODE_CA;
		devices[i].transport_type = IBV_TRANSPORT_IB;
		list[i] = &devices[i];
	}
	if (n != NULL)
		*n = found > 0 ? found : 0;
	return list;
}

SHOWN void
ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

SHOWN const char *
ibv_get_device_name(struct ibv_device *d)
{
	return d->name;
}

SHOWN int
ibv_get_device_index(struct ibv_device *d)
{
	return (int)(d - devices);
}

SHOWN __be64
ibv_get_device_guid(struct ibv_device *d)
{
	umad_ca_t ca;
	__be64 guid;

	if (umad_get_ca(d->name, &ca) != 0)
		return 0;
	guid = ca.node_guid;
	umad_release_ca(&ca);
	return guid;
}

SHOWN struct ibv_context *
ibv_open_device(struct ibv_device *d)
{
	struct ibv_context *c = calloc(1, sizeof(*c));
	const char *fifo = getenv("VERBS_EVENTS");
	int pipe_ends[2];

	if (c == NULL)
		return NULL;
	c->device = d;
	c->cmd_fd = -1;
	if (fifo != NULL)
		c->async_fd = open(fifo, O_RDWR | O_CLOEXEC);
	else if (pipe(pipe_ends) == 0)
		c->async_fd = pipe_ends[0];
	else
		c->async_fd = -1;
	if (c->async_fd >= 0)
		return c;
	free(c);
	return NULL;
}

SHOWN int
ibv_close_device(struct ibv_context *c)
{
	close(c->async_fd);
	free(c);
	return 0;
}

SHOWN int
ibv_query_device(struct ibv_context *c, struct ibv_device_attr *a)
{
	umad_ca_t ca;

	memset(a, 0, sizeof(*a));
	if (umad_get_ca(c->device->name, &ca) != 0)
		return ENODEV;
	a->node_guid = ca.node_guid;
	a->phys_port_cnt = (uint8_t)ca.numports;
	a->max_pkeys = 1;
	a->max_qp = 1;
	umad_release_ca(&ca);
	return 0;
}

SHOWN int
ibv_query_port(struct ibv_context *c, uint8_t number, struct _compat_ibv_port_attr *out)
{
	struct ibv_port_attr *a = (struct ibv_port_attr *)out;
	umad_port_t p;

	if (umad_get_port(c->device->name, number, &p) != 0)
		return EINVAL;
	a->state = (enum ibv_port_state)p.state;
	a->lid = (uint16_t)p.base_lid;
	a->lmc = (uint8_t)p.lmc;
	a->sm_lid = (uint16_t)p.sm_lid;
	a->sm_sl = (uint8_t)p.sm_sl;
	a->gid_tbl_len = 1;
	a->pkey_tbl_len = (uint16_t)p.pkeys_size;
	a->max_mtu = a->active_mtu = IBV_MTU_4096;
	a->active_width = 2;
	a->active_speed = 32;
	a->link_layer = IBV_LINK_LAYER_INFINIBAND;
	umad_release_port(&p);
	return 0;
}

SHOWN int
ibv_query_gid(struct ibv_context *c, uint8_t number, int index, union ibv_gid *gid)
{
	umad_port_t p;

	memset(gid, 0, sizeof(*gid));
	if (index != 0 || umad_get_port(c->device->name, number, &p) != 0)
		return -1;
	gid->global.subnet_prefix = p.gid_prefix;
	gid->global.interface_id = p.port_guid;
	umad_release_port(&p);
	return 0;
}

SHOWN int
ibv_query_pkey(struct ibv_context *c, uint8_t number, int index, __be16 *pkey)
{
	umad_port_t p;
	int rc = -1;

	if (umad_get_port(c->device->name, number, &p) != 0)
		return -1;
	if (index >= 0 && (unsigned)index < p.pkeys_size) {
		*pkey = htobe16(p.pkeys[index]);
		rc = 0;
	}
	umad_release_port(&p);
	return rc;
}

SHOWN int
ibv_get_async_event(struct ibv_context *c, struct ibv_async_event *e)
{
	char text[16] = { 0 };

	if (read(c->async_fd, text, sizeof(text) - 1) <= 0)
		return -1;
	e->element.port_num = 1;
	e->event_type = (enum ibv_event_type)strtol(text, NULL, 10);
	return 0;
}

SHOWN void
ibv_ack_async_event(struct ibv_async_event *e)
{
	(void)e;
}
