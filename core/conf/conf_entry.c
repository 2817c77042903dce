/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An entry of a chain as it is written to an engine with its options and limits, "fattree:pods".
 */
#include <stdio.h>
#include <string.h>

#include "core/abi/options.h"
#include "core/conf/conf_private.h"
#include "core/opensm/opensm.h"
#include "lib/error.h"

int
conf_no_engine(const struct conf_private *self, const char *name, struct fm_error *err)
{
	const char *near = engine_nearest(self->engines, name);

	for (uint32_t i = 0; i < self->engines->n_refused; i++) {
		const struct engine_refusal *r = &self->engines->refused[i];
		const char *base = strrchr(r->path, '/') + 1;

		if (strlen(base) == strlen(name) + 3 && strncmp(base, name, strlen(name)) == 0)
			return fm_fail(err, FM_E_CONFIG, "%.200s", r->reason);
	}
	if (opensm_foreign_engine(name, err) != 0)
		return FM_E_CONFIG;
	if (near != NULL)
		return fm_fail(err, FM_E_CONFIG, "no engine '%s': did you mean %s?", name, near);
	return fm_fail(
	    err, FM_E_CONFIG, "no engine '%s': fmd --list-engines shows what there is", name);
}

/* What the section says beside the engine's options. */
static int
resolve_limits(struct conf_private *self, const struct instance *instance,
    struct chain_entry *entry, struct fm_error *err)
{
	struct option_table table = entry_option_table();
	struct entry_options said;
	int rc;

	if (option_values_origin(instance->entry, "time_limit") == NULL)
		return 0;
	rc = option_values_store(&table, instance->entry, NULL, &self->mem, &said, err);
	if (rc == 0)
		entry->time_limit_ms = said.time_limit_ms;
	return rc;
}

int
conf_resolve_entry(
    struct conf_private *self, const char *word, struct chain_entry *entry, struct fm_error *err)
{
	const char *colon = strchr(word, ':'), *title = colon != NULL ? colon + 1 : "";
	struct instance *instance;
	char name[64];

	snprintf(name, sizeof(name), "%.*s", colon != NULL ? (int)(colon - word) : 63, word);
	entry->name = word;
	entry->time_limit_ms = self->conf->routing.engine_time_limit_ms;
	entry->engine = engine_find(self->engines, name);
	if (entry->engine == NULL)
		return conf_no_engine(self, name, err);
	if (colon != NULL && *title == '\0')
		return fm_fail(err, FM_E_CONFIG,
		    "%s: behind the colon stands the title of a section %s \"...\" { ... }", word,
		    name);
	instance = conf_find_instance(self, entry->engine, title);
	if (instance == NULL && *title != '\0')
		return fm_fail(err, FM_E_CONFIG, "%s: there is no section %s \"%s\" { ... }", word,
		    name, title);
	if (instance != NULL) {
		instance->used = true;
		entry->values = instance->values;
		return resolve_limits(self, instance, entry, err);
	}
	return 0;
}
