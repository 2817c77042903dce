/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/subnet/qos_policy_ulps.c - the section qos-ulps of a policy file: a line
 * is a rule by one upper-layer protocol, and its SL.
 */
#include <strings.h>

#include "core/subnet/qos_policy_read.h"

/* Service IDs of upper-layer protocols: these, and a port number of 16 bits. */
#define SERVICE_SDP UINT64_C(0x10000)
#define SERVICE_TCP UINT64_C(0x1060000) /* RDMA-CM's TCP port space: RDS, iSER */
#define PORT_RDS 0x48ca
#define PORT_ISER 0x0cbc

/* What a line of qos-ulps is about. */
enum ulp_kind { ULP_SERVICE, ULP_PORTS, ULP_PKEY, ULP_TARGET, ULP_SOURCE, ULP_BOTH_ENDS };

static const struct ulp {
	const char *word, *key; /* key NULL: nothing behind the word */
	enum ulp_kind kind;
	uint64_t from, to; /* without key; PORTS: from is added to the port */
} ulps[] = {
	{ "sdp", NULL, ULP_SERVICE, SERVICE_SDP, SERVICE_SDP + 0xffff },
	{ "sdp", "port-num", ULP_PORTS, SERVICE_SDP, 0 },
	{ "rds", NULL, ULP_SERVICE, SERVICE_TCP + PORT_RDS, SERVICE_TCP + PORT_RDS },
	{ "rds", "port-num", ULP_PORTS, SERVICE_TCP, 0 },
	{ "iser", NULL, ULP_SERVICE, SERVICE_TCP + PORT_ISER, SERVICE_TCP + PORT_ISER },
	{ "iser", "port-num", ULP_PORTS, SERVICE_TCP, 0 },
	{ "ipoib", NULL, ULP_PKEY, PKEY_DEFAULT, PKEY_DEFAULT },
	{ "ipoib", "pkey", ULP_PKEY, 0, 0 },
	{ "srp", "target-port-guid", ULP_TARGET, 0, 0 },
	{ "any", "service-id", ULP_SERVICE, 0, 0 },
	{ "any", "pkey", ULP_PKEY, 0, 0 },
	{ "any", "target-port-guid", ULP_TARGET, 0, 0 },
	{ "any", "source-port-guid", ULP_SOURCE, 0, 0 },
	{ "any", "source-target-port-guid", ULP_BOTH_ENDS, 0, 0 },
};
#define N_ULPS (sizeof(ulps) / sizeof(ulps[0]))

static int
add_level(struct policy_reader *r, const char *use, uint8_t sl, uint32_t *at)
{
	struct qos_level l = {
		.name = "", .use = use, .has_sl = true, .sl = sl, .line = r->text.at.line
	};
	struct qos_ranges none = { 0 };

	*at = (uint32_t)r->p->levels.n;
	return fm_vec_push(&r->p->levels, l) && fm_vec_push(&r->p->level_pkeys, none)
	    ? 0
	    : conf_no_memory(&r->text.at);
}

/* A group without name of what the rule is about. */
static int
add_end_group(struct policy_reader *r, const struct qos_ranges *guids, uint32_t *at)
{
	struct qos_group g = { .name = "", .line = r->text.at.line };

	if (!fm_vec_push(&r->p->groups, g))
		return conf_no_memory(&r->text.at);
	*at = (uint32_t)r->p->groups.n - 1;
	return fm_vec_append(&r->p->groups.item[*at].guids.of, guids->of.item, guids->of.n)
	    ? 0
	    : conf_no_memory(&r->text.at);
}

static int
put_ulp(
    struct policy_reader *r, enum ulp_kind kind, const struct qos_ranges *values, uint32_t level)
{
	struct qos_rule rule = { .level = level, .line = r->text.at.line };
	struct qos_rule *kept;
	struct qos_ranges *to;
	uint32_t group = 0;
	bool ok;

	if (kind >= ULP_TARGET && add_end_group(r, values, &group) != 0)
		return FM_E_RESOURCE;
	if (!fm_vec_push(&r->p->ulps, rule))
		return conf_no_memory(&r->text.at);
	kept = &r->p->ulps.item[r->p->ulps.n - 1];
	if (kind == ULP_TARGET)
		ok = fm_vec_push(&kept->dests, group);
	else if (kind == ULP_SOURCE)
		ok = fm_vec_push(&kept->sources, group);
	else {
		to = kind == ULP_PKEY ? &kept->pkeys : &kept->service_ids;
		ok = fm_vec_append(&to->of, values->of.item, values->of.n);
	}
	return ok ? 0 : conf_no_memory(&r->text.at);
}

static int
read_ulp_values(struct policy_reader *r, const struct ulp *u, char *list, struct qos_ranges *out)
{
	struct qos_range fixed = { u->from, u->to };
	int rc;

	if (u->key == NULL)
		return fm_vec_push(&out->of, fixed) ? 0 : conf_no_memory(&r->text.at);
	if (u->kind == ULP_PKEY)
		return policy_ranges(r, list, 0xffff, PKEY_BASE, out);
	if (u->kind != ULP_PORTS)
		return policy_ranges(r, list, UINT64_MAX, UINT64_MAX, out);
	rc = policy_ranges(r, list, 0xffff, UINT64_MAX, out);
	for (size_t i = 0; i < out->of.n; i++) {
		out->of.item[i].from += u->from;
		out->of.item[i].to += u->from;
	}
	return rc;
}

static int
add_ulp(struct policy_reader *r, const struct ulp *u, char *list, uint8_t sl)
{
	struct qos_ranges values = { 0 };
	uint32_t level;
	int rc = read_ulp_values(r, u, list, &values);

	if (rc == 0)
		rc = add_level(r, u->word, sl, &level);
	if (rc == 0 && u->kind == ULP_BOTH_ENDS) {
		rc = put_ulp(r, ULP_SOURCE, &values, level);
		if (rc == 0)
			rc = put_ulp(r, ULP_TARGET, &values, level);
	} else if (rc == 0) {
		rc = put_ulp(r, u->kind, &values, level);
	}
	fm_vec_fini(&values.of);
	return rc;
}

/* "port-num 10000-20000": the word, and *list behind it. */
static char *
split_key(char *text, char **list)
{
	size_t n = strcspn(text, " \t");

	*list = text + n;
	if (**list != '\0')
		*(*list)++ = '\0';
	*list = conf_trim(*list);
	return text;
}

/* "WORD[, KEY LIST] : SL" */
int
policy_take_ulp(struct policy_reader *r, char *line)
{
	char *colon = strrchr(line, ':'), *comma, *key = NULL, *list = NULL;
	uint8_t sl;
	int rc;

	if (colon == NULL)
		return conf_bad(
		    &r->text.at, "\"%.60s\" lacks its SL: \"sdp, port-num 30000 : 1\"", line);
	*colon = '\0';
	if ((rc = policy_byte(r, conf_trim(colon + 1), 15, &sl)) != 0)
		return rc;
	comma = strchr(line, ',');
	if (comma != NULL) {
		*comma = '\0';
		key = split_key(conf_trim(comma + 1), &list);
	}
	line = conf_trim(line);
	if (strcasecmp(line, "default") == 0 && key == NULL && r->p->simple != UINT32_MAX)
		return conf_bad(&r->text.at, "default stands there twice: keep one of them");
	if (strcasecmp(line, "default") == 0 && key == NULL)
		return add_level(r, "default", sl, &r->p->simple);
	for (size_t i = 0; i < N_ULPS; i++)
		if (strcasecmp(ulps[i].word, line) == 0 && (key != NULL) == (ulps[i].key != NULL) &&
		    (key == NULL || strcasecmp(ulps[i].key, key) == 0))
			return add_ulp(r, &ulps[i], list, sl);
	return conf_bad(&r->text.at,
	    "\"%.30s%s%.30s\" is no rule: default, sdp, rds, iser, ipoib, srp or any, and "
	    "port-num, "
	    "pkey, service-id, target-port-guid, source-port-guid",
	    line, key != NULL ? ", " : "", key != NULL ? key : "");
}
