/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * torus-2QoS.conf, unchanged (man 5 torus-2QoS.conf).
 *
 *	torus|mesh X[m|t] Y[m|t] Z[m|t]	sizes; 1: no such dimension
 *	xp_link GUID GUID		from the first switch the second lies up in x (xm: down)
 *	x_dateline N			the origin lies N up from the first switch
 *	next_seed			another set of links, if switches of this one are gone
 *	port_order P ...		in which order ports of hosts are dealt cables
 *	portgroup_max_ports N, max_changes N	accepted; there are no such limits here
 *
 * The grid is found without the file; the first seed whose links are there then says
 * which dimension is x, which way is up and where 0 is.  Only for rings of 4 the
 * file is asked earlier: the arcs of xp_link and xm_link are the two halves of one.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "plugins/engines/torus2qos/torus2qos.h"

#define MAX_SEEDS 32
#define AXES 3

struct seed {
	uint64_t from, up[AXES], down[AXES]; /* GUIDs, 0: not given */
	int64_t dateline[AXES];
	unsigned line; /* of its first link */
};

struct conf {
	const struct fm_host *host;
	const struct fm_fabric *fab;
	const struct fm_file *file;
	struct torus_conf *out;
	unsigned line;
	unsigned shape_line;
	uint32_t size[AXES]; /* 0: no torus or mesh line yet */
	bool wraps[AXES];
	struct seed *seeds; /* [MAX_SEEDS] */
	uint32_t n_seeds;
	struct fm_error *err;
};

#define CONF_FAIL(c, kind, fmt, ...) \
	(c)->host->fail( \
	    (c)->host, (c)->err, (kind), "%s:%u: " fmt, (c)->file->path, (c)->line, __VA_ARGS__)

/* ------------------------------------------------------------ words */

static char *
next_word(char **at)
{
	char *word = *at + strspn(*at, " \t\r\v\f");
	size_t n = strcspn(word, " \t\r\v\f");

	if (n == 0)
		return NULL;
	*at = word + n + (word[n] != '\0');
	word[n] = '\0';
	return word;
}

static int
read_number(
    struct conf *c, const char *word, const char *what, int64_t min, int64_t max, int64_t *value)
{
	char *end = NULL;
	long long v = word != NULL ? strtoll(word, &end, 0) : 0;

	if (word == NULL || *end != '\0' || end == word || v < min || v > max)
		return CONF_FAIL(c, FM_E_CONFIG, "%s wants a number %lld..%lld, not \"%s\"", what,
		    (long long)min, (long long)max, word != NULL ? word : "");
	*value = v;
	return 0;
}

static int
read_guid(struct conf *c, const char *word, const char *what, uint64_t *guid)
{
	char *end = NULL;

	errno = 0;
	*guid = word != NULL ? strtoull(word, &end, 0) : 0; /* decimal ones too, as OpenSM */
	if (word == NULL || *end != '\0' || *guid == 0 || errno != 0 || *word == '-')
		return CONF_FAIL(c, FM_E_CONFIG,
		    "%s wants the node GUIDs of two switches, as in 0x200000 0x200005, not \"%s\"",
		    what, word != NULL ? word : "");
	return 0;
}

/* ------------------------------------------------------------ statements */

/* "4", "4t", "4M": the letter overrides the word the line began with. */
static int
read_shape(struct conf *c, const char *keyword, char **at)
{
	bool torus = strcmp(keyword, "torus") == 0;

	for (unsigned i = 0; i < AXES; i++) {
		char *word = next_word(at), *end = NULL;
		unsigned long v = word != NULL ? strtoul(word, &end, 10) : 0;

		if (word == NULL || end == word || v < 1 || v > 65535 ||
		    (*end != '\0' && (strchr("mMtT", *end) == NULL || end[1] != '\0')))
			return CONF_FAIL(c, FM_E_CONFIG,
			    "%s wants three sizes 1..65535, each with m or t behind it or "
			    "nothing, as in 8 8 4t, not \"%s\"",
			    keyword, word != NULL ? word : "");
		c->size[i] = (uint32_t)v;
		c->wraps[i] = *end == '\0' ? torus : tolower((unsigned char)*end) == 't';
	}
	c->shape_line = c->line;
	return 0;
}

static int
read_link(struct conf *c, const char *keyword, char **at)
{
	struct seed *s = &c->seeds[c->n_seeds - 1];
	unsigned axis = (unsigned)(keyword[0] - 'x');
	uint64_t from, to, *slot = keyword[1] == 'p' ? &s->up[axis] : &s->down[axis];
	int rc;

	if ((rc = read_guid(c, next_word(at), keyword, &from)) != 0 ||
	    (rc = read_guid(c, next_word(at), keyword, &to)) != 0)
		return rc;
	if (s->from != 0 && s->from != from)
		return CONF_FAIL(c, FM_E_CONFIG,
		    "all links of a seed begin at one switch: 0x%llx above, 0x%llx here",
		    (unsigned long long)s->from, (unsigned long long)from);
	if (*slot != 0)
		return CONF_FAIL(c, FM_E_CONFIG, "%s was given before in this seed", keyword);
	if (s->line == 0)
		s->line = c->line;
	s->from = from;
	*slot = to;
	return 0;
}

static int
read_port_order(struct conf *c, char **at)
{
	uint8_t n = 0;
	int64_t port;
	int rc;

	memset(c->out->port_order, 255, sizeof(c->out->port_order));
	for (char *word; (word = next_word(at)) != NULL;) {
		if ((rc = read_number(c, word, "port_order", 0, 254, &port)) != 0)
			return rc;
		if (c->out->port_order[port] == 255 && n < 254)
			c->out->port_order[port] = n++;
	}
	if (n == 0)
		return CONF_FAIL(c, FM_E_CONFIG, "%s wants at least one port", "port_order");
	c->out->has_port_order = true;
	return 0;
}

static int
read_next_seed(struct conf *c)
{
	if (c->seeds[c->n_seeds - 1].from == 0)
		return CONF_FAIL(
		    c, FM_E_CONFIG, "%s: the seed before it has no links", "next_seed");
	if (c->n_seeds == MAX_SEEDS)
		return CONF_FAIL(c, FM_E_CONFIG, "more than %u seeds", MAX_SEEDS);
	c->n_seeds++;
	return 0;
}

static bool
is_axis_word(const char *word, const char *behind)
{
	return word[0] >= 'x' && word[0] <= 'z' && strcmp(word + 1, behind) == 0;
}

static int
read_statement(struct conf *c, const char *keyword, char **at)
{
	int64_t ignored;

	if (strcmp(keyword, "torus") == 0 || strcmp(keyword, "mesh") == 0)
		return read_shape(c, keyword, at);
	if (is_axis_word(keyword, "p_link") || is_axis_word(keyword, "m_link"))
		return read_link(c, keyword, at);
	if (is_axis_word(keyword, "_dateline"))
		return read_number(c, next_word(at), keyword, -65535, 65535,
		    &c->seeds[c->n_seeds - 1].dateline[keyword[0] - 'x']);
	if (strcmp(keyword, "next_seed") == 0)
		return read_next_seed(c);
	if (strcmp(keyword, "port_order") == 0)
		return read_port_order(c, at);
	if (strcmp(keyword, "portgroup_max_ports") == 0 || strcmp(keyword, "max_changes") == 0)
		return read_number(c, next_word(at), keyword, 0, INT32_MAX, &ignored);
	return CONF_FAIL(c, FM_E_CONFIG,
	    "unknown keyword \"%s\"; there are torus, mesh, xp_link, xm_link, x_dateline (y, z "
	    "likewise), next_seed, port_order, portgroup_max_ports, max_changes",
	    keyword);
}

static int
read_lines(struct conf *c, char *text)
{
	for (char *line = text, *next; line != NULL; line = next) {
		char *keyword, *at;
		int rc;

		next = strchr(line, '\n');
		if (next != NULL)
			*next++ = '\0';
		c->line++;
		line[strcspn(line, "#")] = '\0';
		at = line;
		keyword = next_word(&at);
		if (keyword == NULL)
			continue;
		if (c->size[0] == 0 && strcmp(keyword, "torus") != 0 &&
		    strcmp(keyword, "mesh") != 0)
			return CONF_FAIL(c, FM_E_CONFIG,
			    "the first statement has to be torus or mesh with three sizes, not "
			    "\"%s\"",
			    keyword);
		if ((rc = read_statement(c, keyword, &at)) != 0)
			return rc;
	}
	if (c->size[0] == 0)
		return CONF_FAIL(c, FM_E_CONFIG, "no %s in the file", "torus or mesh");
	return 0;
}

static int
read_conf(struct conf *c)
{
	char *text = c->host->scratch(c->host, c->file->n_bytes + 1);

	c->seeds = fm_scratch_array(c->host, MAX_SEEDS, struct seed);
	if (text == NULL || c->seeds == NULL)
		return fm_no_scratch(c->host, "torus_config", c->err);
	c->n_seeds = 1;
	memcpy(text, c->file->bytes, c->file->n_bytes);
	for (size_t i = 0; i < c->file->n_bytes; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	return read_lines(c, text);
}

/* ------------------------------------------------------------ seeds */

/* A seed's arcs in this fabric. */
struct placed_seed {
	fm_sw from;
	fm_arc up[AXES], down[AXES]; /* FM_NONE: not given */
};

static fm_sw
find_switch(const struct fm_fabric *fab, uint64_t guid)
{
	for (fm_sw u = 0; u < fab->n_switches; u++)
		if (fab->sw_guid[u] == guid)
			return u;
	return FM_NONE;
}

static bool
place_link(const struct conf *c, const struct fm_arcs *arcs, fm_sw from, uint64_t to, fm_arc *arc)
{
	fm_sw sw;

	*arc = FM_NONE;
	if (to == 0)
		return true;
	sw = find_switch(c->fab, to);
	*arc = sw == FM_NONE ? FM_NONE : fm_arc_find(arcs, from, sw);
	return *arc != FM_NONE;
}

static bool
place_seed(
    const struct conf *c, const struct fm_arcs *arcs, const struct seed *s, struct placed_seed *p)
{
	p->from = find_switch(c->fab, s->from);
	if (s->from == 0 || p->from == FM_NONE)
		return false;
	for (unsigned i = 0; i < AXES; i++)
		if (!place_link(c, arcs, p->from, s->up[i], &p->up[i]) ||
		    !place_link(c, arcs, p->from, s->down[i], &p->down[i]) ||
		    (c->size[i] > 1 && s->up[i] == 0 && s->down[i] == 0))
			return false;
	return true;
}

static int
choose_seed(
    struct conf *c, const struct fm_arcs *arcs, struct placed_seed *p, const struct seed **s)
{
	for (uint32_t i = 0; i < c->n_seeds; i++) {
		*s = &c->seeds[i];
		if (place_seed(c, arcs, *s, p))
			return 0;
		c->host->log(c->host, FM_LOG_NOTICE,
		    "%s:%u: this seed is not usable: a switch or link of it is missing, or a "
		    "dimension has no link",
		    c->file->path, (*s)->line);
	}
	c->line = c->shape_line;
	return CONF_FAIL(c, FM_E_TOPOLOGY,
	    "none of the %u seeds has all its switches and links in this fabric, and a link for "
	    "each dimension",
	    c->n_seeds);
}

/* Dimensions of 4 that are still two lines of 2. */
static int
join_fours(
    struct conf *c, const struct fm_arcs *arcs, struct fm_grids *grids, const struct placed_seed *p)
{
	uint32_t which = grids->grid_of[p->from];

	for (unsigned i = 0; i < AXES; i++) {
		const struct fm_grid *g = &grids->grid[which];
		uint32_t up = p->up[i] != FM_NONE ? grids->arc_dim[p->up[i]] : FM_NONE;
		uint32_t down = p->down[i] != FM_NONE ? grids->arc_dim[p->down[i]] : FM_NONE;
		uint32_t one = up != FM_NONE ? up : down;
		int rc;

		if (c->size[i] != 4 || !c->wraps[i] || g->size[one] != 2)
			continue;
		if (up == FM_NONE || down == FM_NONE || up == down) {
			c->line = c->shape_line;
			return CONF_FAIL(c, FM_E_CONFIG,
			    "a ring of 4 wants both %cp_link and %cm_link in its seed",
			    'x' + (int)i, 'x' + (int)i);
		}
		rc = fm_grid_join(c->host, arcs, grids, which, up < down ? up : down,
		    up < down ? down : up, c->err);
		if (rc != 0)
			return rc;
	}
	return 0;
}

static int
check_axis(struct conf *c, struct fm_grid *g, unsigned axis, uint32_t dim)
{
	uint8_t kind = c->wraps[axis] && c->size[axis] > 2 ? FM_GRID_RING : FM_GRID_LINE;

	/* A single ring that is cut looks like a line. */
	if (kind == FM_GRID_RING && g->kind[dim] == FM_GRID_LINE && g->size[dim] == c->size[axis])
		g->kind[dim] = FM_GRID_RING;
	if (g->size[dim] == c->size[axis] && g->kind[dim] == kind)
		return 0;
	c->line = c->shape_line;
	return CONF_FAIL(c, FM_E_TOPOLOGY, "%c is a %s of %u here, but a %s of %u in the fabric",
	    'x' + (int)axis, kind == FM_GRID_RING ? "ring" : "line", c->size[axis],
	    g->kind[dim] == FM_GRID_RING	 ? "ring"
		: g->kind[dim] == FM_GRID_CLIQUE ? "clique"
						 : "line",
	    g->size[dim]);
}

/* Which dimension is this axis, which way is up, where is 0? */
static int
view_axis(struct conf *c, struct fm_grids *grids, const struct placed_seed *p, const struct seed *s,
    unsigned axis, struct fm_grid_view *view, uint32_t k)
{
	struct fm_grid *g = &grids->grid[grids->grid_of[p->from]];
	fm_arc a = p->up[axis] != FM_NONE ? p->up[axis] : p->down[axis];
	int step = grids->arc_step[a] * (p->up[axis] != FM_NONE ? 1 : -1);
	uint32_t dim = grids->arc_dim[a], size = g->size[dim];
	int64_t origin = fm_grid_at(g, grids->cell[p->from], dim) + step * s->dateline[axis];
	int rc;

	if ((rc = check_axis(c, g, axis, dim)) != 0)
		return rc;
	for (uint32_t i = 0; i < k; i++)
		if (view->dim[i] == dim) {
			c->line = s->line;
			return CONF_FAIL(c, FM_E_TOPOLOGY,
			    "the links for %c lie in the dimension of another axis",
			    'x' + (int)axis);
		}
	view->dim[k] = dim;
	view->flip[k] = step < 0;
	if (g->kind[dim] == FM_GRID_RING)
		view->origin[k] = (uint32_t)((origin % size + size) % size);
	else
		view->origin[k] = step < 0 ? size - 1 : 0;
	return 0;
}

static int
apply(struct conf *c, const struct fm_arcs *arcs, struct fm_grids *grids)
{
	struct fm_grid_view view = { .flip = { false } };
	struct placed_seed p = { .from = FM_NONE };
	const struct seed *s = NULL;
	uint32_t k = 0, which;
	int rc;

	if ((rc = choose_seed(c, arcs, &p, &s)) != 0 || (rc = join_fours(c, arcs, grids, &p)) != 0)
		return rc;
	which = grids->grid_of[p.from];
	for (unsigned i = 0; i < AXES; i++)
		if (c->size[i] > 1 && (rc = view_axis(c, grids, &p, s, i, &view, k++)) != 0)
			return rc;
	if (k != grids->grid[which].n_dims) {
		c->line = c->shape_line;
		return CONF_FAIL(c, FM_E_TOPOLOGY, "%u dimensions here, %u in the fabric", k,
		    grids->grid[which].n_dims);
	}
	return fm_grid_turn(c->host, arcs, grids, which, &view, c->err);
}

int
torus_find(const struct fm_host *host, const struct fm_fabric *fab, const struct torus_options *o,
    struct fm_arcs *arcs, struct fm_grids *grids, struct torus_conf *conf, struct fm_error *err)
{
	struct conf c = {
		.host = host, .fab = fab, .file = &o->torus_config, .out = conf, .err = err
	};
	bool given = o->torus_config.bytes != NULL;
	int rc;

	*conf = (struct torus_conf){ .given = given };
	if (given && (rc = read_conf(&c)) != 0)
		return rc;
	if ((rc = fm_arcs_build(host, fab, arcs, err)) != 0 ||
	    (rc = fm_grid_find(host, fab, arcs, given ? FM_GRID_SPLIT_FOURS : FM_GRID_JOIN_FOURS,
		 grids, err)) != 0)
		return rc;
	return given ? apply(&c, arcs, grids) : 0;
}
