/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The local port by its GUID; widths and speeds of links that PortInfo has no code for (IBA
 * 14.2.5.6): ports would refuse all that is sent with one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/conf/conf_private.h"
#include "core/wire/wire.h"
#include "lib/error.h"

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
int
conf_resolve_local_port(struct conf_private *self, struct fm_error *err)
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
