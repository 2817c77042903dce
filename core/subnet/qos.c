/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/subnet/qos.c - the lists of QoS keys, and fitting them to ports.
 */
#include "core/subnet/qos.h"

#include <string.h>

#include "core/text/number.h"

#define MAX_VLS 15

static const struct qos_text defaults = { .max_vls = MAX_VLS,
	.high_limit = 0,
	.vlarb_high = "0:4,1:0,2:0,3:0,4:0,5:0,6:0,7:0,8:0,9:0,10:0,11:0,12:0,13:0,14:0",
	.vlarb_low = "0:0,1:4,2:4,3:4,4:4,5:4,6:4,7:4,8:4,9:4,10:4,11:4,12:4,13:4,14:4",
	.sl2vl = "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7" };

/* ---------------------------------------------------------------- reading */

/* "  12 " up to the end or one of stops: its value, and *at behind it. */
static bool
take_number(const char **at, const char *stops, uint64_t max, uint8_t *out)
{
	size_t n;
	char word[8];
	uint64_t v;

	*at += strspn(*at, " \t");
	n = strcspn(*at, " \t,:");
	if (n == 0 || n >= sizeof(word))
		return false;
	memcpy(word, *at, n);
	word[n] = '\0';
	*at += n;
	*at += strspn(*at, " \t");
	if (!number_parse(word, &v) || v > max || (**at != '\0' && strchr(stops, **at) == NULL))
		return false;
	*out = (uint8_t)v;
	return true;
}

static int
parse_arb(const char *key, const char *text, struct qos_arb *out, struct fm_error *err)
{
	const char *at = text;
	size_t n = 0;

	while (n < QOS_ARB_MAX) {
		struct qos_arb *e = &out[n++];

		if (!take_number(&at, ":", MAX_VLS - 1, &e->vl) || *at++ != ':' ||
		    !take_number(&at, ",", 255, &e->weight))
			break;
		if (*at == '\0')
			return 0;
		at++;
	}
	return fm_fail(err, FM_E_CONFIG,
	    "%s: \"%.80s\" is no list of up to %d VL:WEIGHT, VL 0..14, WEIGHT 0..255: "
	    "0:4,1:16,2:0",
	    key, text, QOS_ARB_MAX);
}

static int
parse_sl2vl(const char *text, uint8_t *out, struct fm_error *err)
{
	const char *at = text;

	for (unsigned sl = 0; sl < 16; sl++) {
		if (!take_number(&at, ",", QOS_VL_DROP, &out[sl]) || (*at == ',') != (sl < 15))
			return fm_fail(err, FM_E_CONFIG,
			    "sl2vl: \"%.80s\" is no list of 16 VLs, one an SL, each 0..14, or 15 "
			    "to drop its packets",
			    text);
		at++;
	}
	return 0;
}

static const char *
first_said(const char *a, const char *b, const char *c)
{
	if (a != NULL && *a != '\0')
		return a;
	return b != NULL && *b != '\0' ? b : c;
}

int
qos_tables_parse(const struct qos_text *own, const struct qos_text *common, struct qos_tables *out,
    struct fm_error *err)
{
	const struct qos_text *limit = own->high_limit >= 0 ? own
	    : common->high_limit >= 0			    ? common
							    : &defaults;
	const struct qos_text *vls = own->max_vls > 0 ? own
	    : common->max_vls > 0		      ? common
						      : &defaults;
	int rc;

	*out = (struct qos_tables){ .max_vls = (uint8_t)vls->max_vls,
		.high_limit = (uint8_t)limit->high_limit };
	if ((rc = parse_arb("vlarb_high",
		 first_said(own->vlarb_high, common->vlarb_high, defaults.vlarb_high), out->high,
		 err)) != 0 ||
	    (rc = parse_arb("vlarb_low",
		 first_said(own->vlarb_low, common->vlarb_low, defaults.vlarb_low), out->low,
		 err)) != 0)
		return rc;
	return parse_sl2vl(first_said(own->sl2vl, common->sl2vl, defaults.sl2vl), out->sl2vl, err);
}

/* ---------------------------------------------------------------- fitting */

static uint8_t
fit_vl(const struct qos_tables *t, uint8_t n_vls, uint8_t vl)
{
	uint8_t limit = n_vls < t->max_vls ? n_vls : t->max_vls;

	return (uint8_t)(vl % limit);
}

void
qos_fit_sl2vl(const struct qos_tables *t, uint8_t n_vls, uint8_t *out)
{
	for (unsigned sl = 0; sl < 16; sl++)
		out[sl] =
		    t->sl2vl[sl] == QOS_VL_DROP ? QOS_VL_DROP : fit_vl(t, n_vls, t->sl2vl[sl]);
}

void
qos_host_sl2vl(const struct qos_tables *t, bool levels, uint8_t n_vls, uint8_t *out)
{
	for (uint8_t sl = 0; sl < 16; sl++)
		out[sl] = sl % n_vls;
	if (t != NULL)
		qos_fit_sl2vl(t, n_vls, out);
	for (uint8_t sl = 0; levels && sl < 16; sl++)
		if (out[sl] != QOS_VL_DROP)
			out[sl] = sl / 8 % n_vls;
}

uint16_t
qos_starved(const struct qos_tables *t, uint8_t n_vls, uint16_t vls_in_use)
{
	uint16_t served = 0;

	for (unsigned i = 0; i < QOS_ARB_MAX; i++) {
		if (t->high[i].weight > 0)
			served |= (uint16_t)(1u << fit_vl(t, n_vls, t->high[i].vl));
		if (t->low[i].weight > 0)
			served |= (uint16_t)(1u << fit_vl(t, n_vls, t->low[i].vl));
	}
	return (uint16_t)(vls_in_use & ~served);
}

uint16_t
qos_without_weight(const struct qos_tables *t)
{
	uint16_t used = 0;
	uint8_t vl[16];

	qos_fit_sl2vl(t, t->max_vls, vl);
	for (unsigned sl = 0; sl < 16; sl++)
		used |= (uint16_t)(vl[sl] == QOS_VL_DROP ? 0 : 1u << vl[sl]);
	return qos_starved(t, t->max_vls, used);
}

/* Give the VLs of the set a place among the first cap entries: the last ones
 * without weight, or if there are too few the last ones. */
static void
give_each_vl_a_place(struct qos_arb *table, unsigned cap, uint16_t vls)
{
	for (unsigned vl = 0; vl < MAX_VLS; vl++) {
		unsigned at = cap;

		if ((vls & (1u << vl)) == 0)
			continue;
		while (at > 0 && table[at - 1].weight > 0)
			at--;
		if (at == 0)
			at = cap;
		if (at > 0)
			table[at - 1] = (struct qos_arb){ (uint8_t)vl, 1 };
	}
}

void
qos_fit_arb(const struct qos_tables *t, bool high, unsigned block, uint8_t cap, uint8_t n_vls,
    uint16_t starved, struct qos_arb *out)
{
	struct qos_arb table[QOS_ARB_MAX];
	unsigned n = cap < QOS_ARB_MAX ? cap : QOS_ARB_MAX;

	memset(table, 0, sizeof(table));
	memcpy(table, high ? t->high : t->low, n * sizeof(*table));
	for (unsigned i = 0; i < n; i++)
		table[i].vl = fit_vl(t, n_vls, table[i].vl);
	if (!high)
		give_each_vl_a_place(table, n, starved);
	memcpy(out, table + (size_t)block * QOS_ARB_BLOCK, QOS_ARB_BLOCK * sizeof(*out));
}
