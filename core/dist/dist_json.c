/* SPDX-License-Identifier: BSD-2-Clause */
/* core/dist/dist_json.c - O(places). */
#include "core/dist/dist_json.h"

#include "core/text/json_text.h"

static json_t *
place_json(struct dist *d, unsigned i)
{
	struct dist_status s;

	dist_status(d, i, &s);
	return json_pack("{s:s, s:o, s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:o}",
	    "kind", s.kind, "place", json_text(s.place), "state",
	    !s.is_master && s.follows == NULL ? "not master"
		: s.error[0] != '\0'	      ? "failing"
		: s.is_master		      ? "published"
					      : "following",
	    "follows", s.follows != NULL ? json_text(s.follows) : json_null(), "term",
	    (json_int_t)s.term, "epoch", (json_int_t)s.epoch, "commits", (json_int_t)s.n_commits,
	    "blobs", (json_int_t)s.n_blobs, "patches", (json_int_t)s.n_patches, "bytes",
	    (json_int_t)s.n_bytes, "failures", (json_int_t)s.n_failures, "last_ms", s.last_s * 1000,
	    "error", s.error[0] != '\0' ? json_text(s.error) : json_null());
}

json_t *
dist_json(struct dist *d)
{
	json_t *places = json_array();

	for (unsigned i = 0; d != NULL && i < dist_n_places(d); i++)
		if (json_array_append_new(places, place_json(d, i)) != 0) {
			json_decref(places);
			return NULL;
		}
	return json_pack("{s:o}", "places", places);
}
