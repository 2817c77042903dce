/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The local port by its GUID, or the list of those that fmd may work on; widths and speeds of links
 * that PortInfo has no code for (IBA 14.2.5.6): ports would refuse all that is sent with one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/conf/conf_private.h"
#include "core/wire/wire.h"
#include "lib/error.h"

#define CA_NAME_BYTES 64 /* with its end, as libibumad has it */
#define CA_PORT_MAX 254

int
conf_check_links(struct conf_private *self, struct fm_error *err)
{
	const struct conf_ports *p = &self->conf->ports;
	int64_t speed = p->force_link_speed, ext = p->force_link_speed_ext,
		width = p->force_link_width;
	const struct {
		const char *key, *instead;
		int64_t value;
		bool is_bad;
	} keys[] = {
		{ "force_link_speed",
		    "add 2 (DDR) and 4 (QDR) to 1 (SDR), or write 15 for all, 0 to leave it", speed,
		    (speed > 7 || speed % 2 == 0) && speed != 0 && speed != LINK_SPEED_ALL },
		{ "force_link_speed_ext",
		    "add 1 (FDR), 2 (EDR), 4 (HDR) and 8 (NDR), or write 31 for all, 30 for none, "
		    "0 to leave it",
		    ext, ext > 15 && ext != LINK_SPEED_EXT_NONE && ext != LINK_SPEED_EXT_ALL },
		{ "force_link_width",
		    "add 1 (1x), 2 (4x), 4 (8x), 8 (12x) and 16 (2x), or write 255 for all, 0 to "
		    "leave it",
		    width, width > 31 && width != LINK_WIDTH_ALL },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!keys[i].is_bad)
			continue;
		fm_fail(
		    err, FM_E_CONFIG, "%d is reserved: %s", (int)keys[i].value, keys[i].instead);
		if (conf_note_own(self, keys[i].key, FM_E_CONFIG, err) != 0)
			return (int)err->kind;
	}
	return 0;
}

/* "umad" to "umad:0x0002c903000abcd1", "sim:FABRIC" to "sim:FABRIC,local=0x...". */
static int
resolve_guid(struct conf_private *self, struct fm_error *err)
{
	struct conf_transport *t = &self->conf->transport;
	bool umad = strcmp(t->spec, "umad") == 0;
	size_t bytes = strlen(t->spec) + sizeof(",local=0x0123456789abcdef");
	char *spec;

	if (t->guid == 0)
		return 0;
	if (!umad && (strncmp(t->spec, "sim:", 4) != 0 || strstr(t->spec, ",local=") != NULL)) {
		fm_fail(err, FM_E_CONFIG, "transport = %.60s names the port, too: say one of them",
		    t->spec);
		return conf_note_own(self, "guid", FM_E_CONFIG, err);
	}
	spec = fm_arena_alloc(&self->mem, bytes);
	if (spec == NULL)
		return conf_out_of_memory(err);
	snprintf(spec, bytes, "%s%s0x%016" PRIx64, t->spec, umad ? ":" : ",local=", t->guid);
	t->spec = spec;
	return 0;
}

/* CA:PORT, such as mlx5_0:1. */
static bool
is_ca_port(const char *word, int *n_ca, unsigned *port)
{
	const char *colon = strchr(word, ':');
	char *end;

	if (colon == NULL || colon == word || strncmp(word, "0x", 2) == 0 ||
	    colon[1] < '0' || colon[1] > '9')
		return false;
	*n_ca = (int)(colon - word);
	*port = (unsigned)strtoul(colon + 1, &end, 10);
	return *end == '\0' && *port >= 1 && *port <= CA_PORT_MAX && colon - word < CA_NAME_BYTES;
}

/* One of several, and so written that two of one port are equal. */
static int
add_port(struct conf_private *self, const char *word, struct fm_error *err)
{
	struct conf_transport *t = &self->conf->transport;
	unsigned port = 0;
	char *spec = fm_arena_alloc(&self->mem, CA_NAME_BYTES + sizeof("umad::254"));
	int n_ca = 0;

	if (spec == NULL)
		return conf_out_of_memory(err);
	if (!is_ca_port(word, &n_ca, &port))
		return fm_fail(err, FM_E_CONFIG,
		    "\"%.60s\" in a list of ports: each is an adapter and its port, as in mlx5_0:1",
		    word);
	snprintf(spec, CA_NAME_BYTES + sizeof("umad::254"), "umad:%.*s:%u", n_ca, word, port);
	for (unsigned i = 0; i < t->n_ports; i++)
		if (strcmp(t->ports[i], spec) == 0)
			return fm_fail(
			    err, FM_E_CONFIG, "%.60s stands there twice: once is enough", word);
	if (t->n_ports == LOCAL_PORTS_MAX)
		return fm_fail(err, FM_E_CONFIG, "%.60s is one too many: %d ports at most", word,
		    LOCAL_PORTS_MAX);
	t->ports[t->n_ports++] = spec;
	return 0;
}

/* A single one may be written as behind "umad:". */
static int
take_single_port(struct conf_private *self, const char *word, struct fm_error *err)
{
	size_t bytes = strlen(word) + sizeof("umad:");
	char *spec = fm_arena_alloc(&self->mem, bytes);

	if (spec == NULL)
		return conf_out_of_memory(err);
	snprintf(spec, bytes, "umad:%s", word);
	self->conf->transport.spec = spec;
	return conf_check_transport(&self->conf->transport, err);
}

static int
resolve_ports(struct conf_private *self, struct fm_error *err)
{
	struct conf_transport *t = &self->conf->transport;
	const char *at = t->ports_text, *word = conf_next_word(&self->mem, &at);
	const char *next = word != NULL ? conf_next_word(&self->mem, &at) : NULL;
	int rc;

	if (word == NULL)
		return 0;
	if (t->guid != 0 || strcmp(t->spec, "umad") != 0) {
		fm_fail(err, FM_E_CONFIG, "%s names the port, too: say one of them",
		    t->guid != 0 ? "guid" : "transport");
		return conf_note_own(self, "port", FM_E_CONFIG, err);
	}
	if (next == NULL)
		return conf_note_own(self, "port", take_single_port(self, word, err), err);
	rc = conf_note_own(self, "port", add_port(self, word, err), err);
	for (; rc == 0 && next != NULL; next = conf_next_word(&self->mem, &at))
		rc = conf_note_own(self, "port", add_port(self, next, err), err);
	if (rc == 0 && t->n_ports > 0)
		t->spec = t->ports[0];
	return rc;
}

int
conf_resolve_local_port(struct conf_private *self, struct fm_error *err)
{
	struct conf_transport *t = &self->conf->transport;
	int rc = resolve_ports(self, err);

	if (rc == 0)
		rc = resolve_guid(self, err);
	if (rc == 0 && t->n_ports == 0)
		t->ports[t->n_ports++] = t->spec;
	return rc;
}
