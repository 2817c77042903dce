/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/health/findings.h - what fmd-perf has told of cables (perf/health/tell.h) while we rule.
 *
 * The list has a name, another one each time that it is begun anew.  A call that names another list
 * changes nothing, and is answered by the name and what the list holds.  A call counts as a whole
 * or not at all.  FINDINGS_MOST cables are kept, those that are told first.
 */
#ifndef CORE_HEALTH_FINDINGS_H
#define CORE_HEALTH_FINDINGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/error.h"

#define FINDINGS_MOST 5000
#define FINDINGS_CABLES 64   /* in a call */
#define FINDINGS_EVIDENCE 32 /* of a cable */
#define FINDINGS_WHY 160

/* From best to worst. */
enum cable_health { CABLE_OK, CABLE_WATCH, CABLE_QUARANTINED, CABLE_BAD };
/* "ok", "watch", "quarantined", "bad" */
const char *cable_health_word(enum cable_health h);

enum finding_suspect { FINDING_CABLE, FINDING_NEAR, FINDING_FAR };

struct finding_end {
	uint64_t guid; /* of the node */
	uint8_t port;
};

struct finding {
	struct finding_end end[2]; /* near, far */
	enum cable_health health;  /* CABLE_WATCH, CABLE_BAD */
	enum finding_suspect suspect;
	int64_t since_s; /* UTC */
	bool is_spared;	 /* the administrator has restored it: not quarantined till it is ok */
	uint64_t refused_plan;	    /* number of the plan for which it was not quarantined */
	char why_not[FINDINGS_WHY]; /* "": it was not refused */
	json_t *evidence; /* [{"counter", "end": "near"|"far", "per_hour", "at_end"}], checked */
};

struct findings;

struct findings *findings_new(void);	/* an empty list; NULL: out of memory */
void findings_free(struct findings *f); /* NULL is fine */
/* What was told is of no use any more: another list. */
void findings_begin(struct findings *f);
/* The command "report".  now_ms: by any clock that does not jump.  *result: a new reference.
 * FM_E_CONFIG: what makes no sense of it; FM_E_RESOURCE. */
int findings_take(
    struct findings *f, const json_t *args, int64_t now_ms, json_t **result, struct fm_error *err);

/* A cable was bad before our time: unless it is known, it is bad since then.  False: out of memory,
 * or there are too many. */
bool findings_believe(struct findings *f, const struct finding_end end[2], int64_t since_s);
/* The administrator has restored the cable at this port. */
void findings_spare(struct findings *f, uint64_t guid, uint8_t port);
/* It is not quarantined, by this plan.  False: that was told before. */
bool findings_refuse(struct findings *f, uint32_t i, uint64_t plan, const char *why);

/* Of the cable at this port; NULL: it is ok, as far as was told.  O(1); good until the next call of
 * another function. */
const struct finding *findings_at(const struct findings *f, uint64_t guid, uint8_t port);
uint32_t findings_n(const struct findings *f);
const struct finding *findings_get(const struct findings *f, uint32_t i); /* i < findings_n() */
bool findings_is_full(const struct findings *f); /* a cable more was told than are kept */
/* Since somebody has told, ms; -1: nobody has. */
int64_t findings_age_ms(const struct findings *f, int64_t now_ms);
/* Somebody tells as often as he said he would. */
bool findings_are_fresh(const struct findings *f, int64_t now_ms);

#endif
