/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libfmsim-umad.so, first half: which adapters and ports there are.
 *
 * Loaded before libibumad (LD_PRELOAD) it takes the place of its whole API, so
 * that a program knows nothing of it.  A program sees one adapter, fmsim0: the
 * node that FMSIM_NODE names.  What libibumad reads from sysfs is asked of the
 * server each time, so that it is never old.
 */
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lab/fmsim/umad_client.h"
#include "lab/fmsim/umad_preload.h"

/* ------------------------------------------------------------- environment */

const char *
fmsim_node(void)
{
	const char *node = getenv("FMSIM_NODE");

	return node != NULL ? node : "";
}

unsigned
fmsim_default_port(void)
{
	const char *port = getenv("FMSIM_PORT");

	return port != NULL ? (unsigned)strtoul(port, NULL, 0) : 0;
}

/* ------------------------------------------------------------------- calls */

static int
exchange(int fd, const struct fmsim_call *call, struct fmsim_ca *ca)
{
	struct fmsim_answer a;
	int rc = fmsim_write(fd, call, sizeof(*call));

	if (rc == 0)
		rc = fmsim_read(fd, &a, sizeof(a));
	if (rc == 0 && ca != NULL && a.value == 0)
		rc = fmsim_read(fd, ca, sizeof(*ca));
	return rc != 0 ? rc : a.value;
}

/* One connection for all calls of the process; a child makes its own. */
int
fmsim_do_call(struct fmsim_call *call, struct fmsim_ca *ca)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static int fd = -1;
	static pid_t owner;
	struct fmsim_hello hello = { .kind = FMSIM_CALL };
	struct fmsim_welcome welcome;
	int rc = 0;

	pthread_mutex_lock(&lock);
	if (fd >= 0 && owner != getpid()) {
		close(fd);
		fd = -1;
	}
	if (fd < 0) {
		fd = fmsim_connect(fmsim_default_path(), &hello, &welcome);
		owner = getpid();
		rc = fd < 0 ? fd : 0;
	}
	if (rc == 0)
		rc = exchange(fd, call, ca);
	if (rc == -ENODEV && call->op != FMSIM_LOOK) {
		close(fd);
		fd = -1;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

static int
look_up_ca(struct fmsim_ca *ca)
{
	struct fmsim_call call = { .op = FMSIM_LOOK };
	int rc;

	snprintf(call.node, sizeof(call.node), "%s", fmsim_node());
	rc = fmsim_do_call(&call, ca);
	if (rc < 0)
		fprintf(stderr, "fmsim: node \"%s\" of the fabric at %s: %s\n", fmsim_node(),
		    fmsim_default_path(), strerror(-rc));
	return rc;
}

static bool
has_port(const struct fmsim_ca *ca, int port)
{
	if (ca->n_ports == 0)
		return port == 0; /* a switch */
	return port >= 1 && port <= (int)ca->n_ports && port < FMSIM_CA_PORTS;
}

int
fmsim_find_port(const char *ca_name, int port)
{
	struct fmsim_ca ca;
	int rc;

	if (ca_name != NULL && ca_name[0] != '\0' && strcmp(ca_name, FMSIM_CA_NAME) != 0)
		return -ENODEV;
	rc = look_up_ca(&ca);
	if (rc < 0)
		return rc;
	if (port <= 0)
		port = (int)(fmsim_default_port() ? fmsim_default_port() : ca.place);
	return has_port(&ca, port) ? port : -EINVAL;
}

/* --------------------------------------------------------------------- API */

EXPORT int
umad_init(void)
{
	return 0;
}

EXPORT int
umad_done(void)
{
	return 0;
}

EXPORT int
umad_get_cas_names(char cas[][UMAD_CA_NAME_LEN], int max)
{
	struct fmsim_ca ca;

	if (max < 1 || look_up_ca(&ca) < 0)
		return 0;
	snprintf(cas[0], UMAD_CA_NAME_LEN, "%s", FMSIM_CA_NAME);
	return 1;
}

EXPORT struct umad_device_node *
umad_get_ca_device_list(void)
{
	struct umad_device_node *n;
	struct fmsim_ca ca;

	if (look_up_ca(&ca) < 0) {
		errno = EIO;
		return NULL;
	}
	n = calloc(1, sizeof(*n));
	if (n != NULL)
		n->ca_name = strdup(FMSIM_CA_NAME);
	return n;
}

EXPORT void
umad_free_ca_device_list(struct umad_device_node *head)
{
	struct umad_device_node *n;

	while ((n = head) != NULL) {
		head = n->next;
		free((char *)n->ca_name);
		free(n);
	}
}

EXPORT int
umad_sort_ca_device_list(struct umad_device_node **head, size_t size)
{
	return 0; /* there is one */
}

EXPORT int
umad_get_ca_portguids(const char *ca_name, __be64 *portguids, int max)
{
	struct fmsim_ca ca;
	int n;

	if (fmsim_find_port(ca_name, 0) < 0 || look_up_ca(&ca) < 0)
		return -ENODEV;
	n = (int)ca.n_ports + 1;
	if (n > FMSIM_CA_PORTS)
		n = FMSIM_CA_PORTS;
	for (int i = 0; i < n && i < max; i++)
		portguids[i] = htobe64(ca.ports[i].guid);
	return n < max ? n : max;
}

static bool
fill_port(umad_port_t *p, const struct fmsim_ca *ca, int number)
{
	const struct fmsim_port *from = &ca->ports[number];

	*p = (umad_port_t){ .portnum = number,
		.base_lid = from->lid,
		.lmc = from->lmc,
		.sm_lid = from->sm_lid,
		.sm_sl = from->sm_sl,
		.state = from->state,
		.phys_state = from->phys_state,
		.rate = from->rate_gbps,
		.capmask = htobe32(from->capability_mask),
		.gid_prefix = htobe64(from->gid_prefix),
		.port_guid = htobe64(from->guid),
		.pkeys_size = FMSIM_PKEYS };
	snprintf(p->ca_name, sizeof(p->ca_name), "%s", FMSIM_CA_NAME);
	snprintf(p->link_layer, sizeof(p->link_layer), "InfiniBand");
	p->pkeys = calloc(FMSIM_PKEYS, sizeof(*p->pkeys));
	if (p->pkeys != NULL)
		memcpy(p->pkeys, from->pkeys, sizeof(from->pkeys));
	return p->pkeys != NULL;
}

EXPORT int
umad_get_port(const char *ca_name, int portnum, umad_port_t *port)
{
	struct fmsim_ca ca;
	int rc = fmsim_find_port(ca_name, portnum);

	if (rc < 0)
		return rc;
	if (look_up_ca(&ca) < 0)
		return -ENODEV;
	return fill_port(port, &ca, rc) ? 0 : -ENOMEM;
}

EXPORT int
umad_release_port(umad_port_t *port)
{
	free(port->pkeys);
	port->pkeys = NULL;
	return 0;
}

EXPORT int
umad_release_ca(umad_ca_t *ca)
{
	for (int i = 0; i < UMAD_CA_MAX_PORTS; i++)
		if (ca->ports[i] != NULL) {
			umad_release_port(ca->ports[i]);
			free(ca->ports[i]);
			ca->ports[i] = NULL;
		}
	return 0;
}

EXPORT int
umad_get_ca(const char *ca_name, umad_ca_t *ca)
{
	struct fmsim_ca from;
	int rc = fmsim_find_port(ca_name, 0);

	if (rc == -ENODEV || look_up_ca(&from) < 0)
		return -ENODEV;
	*ca = (umad_ca_t){ .node_type = from.node_type,
		.numports = (int)from.n_ports,
		.node_guid = htobe64(from.node_guid),
		.system_guid = htobe64(from.system_guid) };
	snprintf(ca->ca_name, sizeof(ca->ca_name), "%s", FMSIM_CA_NAME);
	snprintf(ca->fw_ver, sizeof(ca->fw_ver), "1.0");
	snprintf(ca->hw_ver, sizeof(ca->hw_ver), "%x", from.revision);
	snprintf(ca->ca_type, sizeof(ca->ca_type), "fmsim 0x%x", from.device_id);
	for (int p = 0; p < FMSIM_CA_PORTS && p < UMAD_CA_MAX_PORTS; p++) {
		if (!has_port(&from, p))
			continue;
		ca->ports[p] = calloc(1, sizeof(umad_port_t));
		if (ca->ports[p] == NULL || !fill_port(ca->ports[p], &from, p)) {
			umad_release_ca(ca);
			return -ENOMEM;
		}
	}
	return 0;
}

EXPORT int
umad_get_issm_path(const char *ca_name, int portnum, char path[], int max)
{
	int port = fmsim_find_port(ca_name, portnum);

	if (port < 0)
		return port;
	return snprintf(path, (size_t)max, FMSIM_ISSM_PATH "%d", port) < max ? 0 : -ENAMETOOLONG;
}

/* -------------------------------------------------------------------- sysfs */

/* state and sm_lid are all that programs read of it by themselves. */
static int
print_port(char *text, size_t size, const struct fmsim_port *p, const char *file)
{
	static const char *const states[] = { "NOP", "DOWN", "INIT", "ARMED", "ACTIVE" };

	if (strcmp(file, SYS_PORT_SMLID) == 0)
		return snprintf(text, size, "0x%x\n", p->sm_lid);
	if (strcmp(file, SYS_PORT_LID) == 0)
		return snprintf(text, size, "0x%x\n", p->lid);
	if (strcmp(file, SYS_PORT_STATE) == 0)
		return snprintf(text, size, "%u: %s\n", p->state,
		    p->state < 5 ? states[p->state] : "<unknown>");
	return -1;
}

int
fmsim_open_sysfs(const char *path)
{
	static const char ours[] = SYS_INFINIBAND "/" FMSIM_CA_NAME "/";
	char file[32] = "", text[64];
	struct fmsim_ca ca;
	int port = 0, n = -1, fd;

	if (strncmp(path, ours, sizeof(ours) - 1) != 0)
		return -2;
	if (sscanf(path + sizeof(ours) - 1, SYS_CA_PORTS_DIR "/%d/%31s", &port, file) == 2 &&
	    look_up_ca(&ca) >= 0 && has_port(&ca, port))
		n = print_port(text, sizeof(text), &ca.ports[port], file);
	fd = n > 0 ? memfd_create(file, MFD_CLOEXEC) : -1;
	if (fd >= 0 && (write(fd, text, (size_t)n) != n || lseek(fd, 0, SEEK_SET) != 0)) {
		close(fd);
		fd = -1;
	}
	if (fd < 0)
		errno = ENOENT;
	return fd;
}
