/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regions as text: what stands in each, how it hangs on the others, who
 * routed it and who would not.
 */
#include "tools/fmroute_regions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/daemon/regions_json.h"
#include "core/graph/snapshot.h"
#include "lib/error.h"

#define MARGIN 14
#define WIDTH 100

int
regions_cut(const struct conf *conf, const struct snapshot *snap, bool strict, uint16_t **sw_region,
    struct fm_error *err)
{
	*sw_region = calloc(snap->fab.n_switches + 1, sizeof(**sw_region));
	if (*sw_region == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the regions");
	if (!strict && regions_check(&conf->regions.set, snap, err) != 0)
		return (int)err->kind;
	return regions_resolve(&conf->regions.set, snap, strict, *sw_region, err);
}

void
regions_add_join(const struct plan *plan, json_t *o)
{
	if (plan == NULL || plan->regions == NULL || plan->tables == NULL)
		return;
	json_object_set_new(o, "joined", json_string(plan_join_name(plan->regions->join)));
}

/* Words in lines of WIDTH, all but the first set in. */
static void
print_words(const json_t *list, const char *between)
{
	size_t i, column = MARGIN;
	json_t *word;

	json_array_foreach(list, i, word)
	{
		const char *text = json_string_value(word);

		if (i > 0)
			column += (size_t)printf("%s", between);
		if (i > 0 && column + strlen(text) > WIDTH)
			column = (size_t)printf("\n%*s", MARGIN, "") - 1;
		column += (size_t)printf("%s", text);
	}
	putchar('\n');
}

static void
print_borders(const json_t *borders)
{
	size_t i;
	json_t *b;

	json_array_foreach(borders, i, b)
	{
		json_int_t n = json_integer_value(json_object_get(b, "cables"));
		json_int_t routes = json_integer_value(json_object_get(b, "routes"));

		printf("  border      %lld cable%s to %s", (long long)n, n == 1 ? "" : "s",
		    json_string_value(json_object_get(b, "to")));
		if (routes > 0)
			printf(", %lld routes", (long long)routes);
		printf(":\n%*s", MARGIN, "");
		print_words(json_object_get(b, "switches"), " ");
	}
}

static void
print_refusals(const json_t *refused)
{
	size_t i;
	json_t *r;

	json_array_foreach(refused, i, r)
	    printf("  refused     %s: %s\n", json_string_value(json_object_get(r, "engine")),
		json_string_value(json_object_get(r, "reason")));
}

static void
print_engine(const json_t *o)
{
	const char *engine = json_string_value(json_object_get(o, "engine"));
	const char *because = json_string_value(json_object_get(o, "because"));
	json_int_t n_switches = json_integer_value(json_object_get(o, "n_switches"));

	if (engine != NULL)
		printf("  engine      %s\n", engine);
	else if (json_object_get(o, "engine") != NULL && n_switches > 0 &&
	    n_switches == json_integer_value(json_object_get(o, "components")))
		printf("  engine      none: a component of one switch needs none\n");
	else if (json_object_get(o, "engine") != NULL)
		printf("  engine      none\n");
	if (because != NULL)
		printf("  because     auto takes it for %s\n", because);
	if (json_is_true(json_object_get(o, "merged")))
		printf("  merged      routed as one region with all that say so, the core of the "
		       "others\n");
}

static void
print_busiest(const json_t *b)
{
	if (b == NULL)
		return;
	printf("  busiest     %.2f times the mean of all cables, %s by %s port %lld\n",
	    json_real_value(json_object_get(b, "max_over_avg")),
	    json_string_value(json_object_get(b, "way")),
	    json_string_value(json_object_get(b, "switch")),
	    (long long)json_integer_value(json_object_get(b, "port")));
}

static void
print_region(const json_t *o)
{
	json_int_t n_components = json_integer_value(json_object_get(o, "components"));
	const char *of = json_string_value(json_object_get(o, "chain_of"));

	printf("region      %s\n", json_string_value(json_object_get(o, "region")));
	printf("  size        %lld switches in %lld component%s, %lld hosts\n",
	    (long long)json_integer_value(json_object_get(o, "n_switches")),
	    (long long)n_components, n_components == 1 ? "" : "s",
	    (long long)json_integer_value(json_object_get(o, "hosts")));
	if (json_array_size(json_object_get(o, "switches")) > 0) {
		printf("  switches    ");
		print_words(json_object_get(o, "switches"), " ");
	}
	print_borders(json_object_get(o, "borders"));
	print_busiest(json_object_get(o, "busiest"));
	printf("  chain       ");
	print_words(json_object_get(o, "chain"), ", ");
	if (of != NULL)
		printf("%*sthat of region %s, as it has none of its own\n", MARGIN, "", of);
	print_refusals(json_object_get(o, "refused"));
	print_engine(o);
}

void
regions_print(const struct plan *plan, const json_t *regions)
{
	size_t i;
	json_t *o;

	json_array_foreach(regions, i, o) print_region(o);
	if (plan == NULL || plan->regions == NULL || plan->tables == NULL)
		return;
	printf("joined      %s\n", plan_join_name(plan->regions->join));
}
