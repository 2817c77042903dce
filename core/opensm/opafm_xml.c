/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The elements of opafm.xml, by libexpat.  opa-fm's file has no document type, no entities of
 * its own, no attributes, and is not deep: what has, is refused before it can cost anything.
 */
#include "config.h"

#include "core/opensm/opafm.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#ifdef HAVE_EXPAT
#include <expat.h>
#endif

#include "lib/error.h"

#define MAX_DEPTH 16
#define MAX_NAME 64
#define VALUE_ROOM 256
#define MAX_ELEMENTS 100000
#define BLANKS " \t\r\n"

void
opafm_init(struct opafm *x, struct fm_arena *mem, const struct engine_set *engines)
{
	*x = (struct opafm){ 0 };
	opensm_init(&x->o, mem, engines);
}

void
opafm_fini(struct opafm *x)
{
	opensm_fini(&x->o);
	fm_vec_fini(&x->elements);
	fm_vec_fini(&x->names);
	fm_vec_fini(&x->groups);
	fm_vec_fini(&x->vfabrics);
	fm_vec_fini(&x->vfabric_settings);
	fm_vec_fini(&x->sls_given);
}

#ifdef HAVE_EXPAT
struct reader {
	struct opafm *x;
	XML_Parser parser;
	const char *path;
	struct fm_error *err;
	bool failed;
	uint32_t open[MAX_DEPTH];
	unsigned depth;
	char text[VALUE_ROOM]; /* since the last tag, without blanks before it */
	size_t n_text;
};

static unsigned
line_of(const struct reader *r)
{
	return (unsigned)XML_GetCurrentLineNumber(r->parser);
}

/* The first mistake ends it. */
static void
stop(struct reader *r)
{
	r->failed = true;
	XML_StopParser(r->parser, XML_FALSE);
}

static void
stop_for_memory(struct reader *r)
{
	fm_fail(r->err, FM_E_RESOURCE, "%s: out of memory", r->path);
	stop(r);
}

/* Text stands in elements that hold nothing else. */
static bool
is_mixed(struct reader *r)
{
	if (r->n_text == 0)
		return false;
	fm_fail(r->err, FM_E_CONFIG,
	    "%s:%u: \"%.*s\" stands beside elements: a value is alone in its element", r->path,
	    line_of(r), (int)(r->n_text < 40 ? r->n_text : 40), r->text);
	stop(r);
	return true;
}

static bool
is_refused(struct reader *r, const char *name, const char *const *attributes)
{
	unsigned line = line_of(r);

	if (r->depth == MAX_DEPTH)
		fm_fail(r->err, FM_E_CONFIG,
		    "%s:%u: <%.40s> stands in %d others: opa-fm's file is not so deep", r->path,
		    line, name, MAX_DEPTH);
	else if (strlen(name) > MAX_NAME)
		fm_fail(r->err, FM_E_CONFIG, "%s:%u: <%.40s...> is no element of opa-fm's", r->path,
		    line, name);
	else if (r->x->elements.n == MAX_ELEMENTS)
		fm_fail(r->err, FM_E_CONFIG, "%s:%u: more than %d elements", r->path, line,
		    MAX_ELEMENTS);
	else if (attributes[0] != NULL)
		fm_fail(r->err, FM_E_CONFIG,
		    "%s:%u: <%.40s %.40s=...>: opa-fm's elements have no attributes: write "
		    "<%.40s>VALUE</%.40s>",
		    r->path, line, name, attributes[0], name, name);
	else
		return false;
	stop(r);
	return true;
}

static void
on_start(void *arg, const char *name, const char **attributes)
{
	struct reader *r = arg;
	struct opafm_element e = { .value = "", .line = line_of(r) };

	if (r->failed || is_mixed(r) || is_refused(r, name, (const char *const *)attributes))
		return;
	if (r->depth > 0)
		r->x->elements.item[r->open[r->depth - 1]].is_section = true;
	e.name = fm_arena_strdup(r->x->o.mem, name);
	r->open[r->depth++] = (uint32_t)r->x->elements.n;
	if (e.name == NULL || !fm_vec_push(&r->x->elements, e))
		stop_for_memory(r);
}

static void
end_value(struct reader *r, struct opafm_element *e)
{
	while (r->n_text > 0 && strchr(BLANKS, r->text[r->n_text - 1]) != NULL)
		r->n_text--;
	r->text[r->n_text] = '\0';
	r->n_text = 0;
	if (r->text[strcspn(r->text, "\r\n\t")] != '\0') {
		fm_fail(r->err, FM_E_CONFIG, "%s:%u: the value of <%s> has a line break or a tab",
		    r->path, e->line, e->name);
		stop(r);
	} else if ((e->value = fm_arena_strdup(r->x->o.mem, r->text)) == NULL) {
		stop_for_memory(r);
	}
}

static void
on_end(void *arg, const char *name)
{
	struct reader *r = arg;
	struct opafm_element *e;

	if (r->failed)
		return;
	e = &r->x->elements.item[r->open[--r->depth]];
	e->end = (uint32_t)r->x->elements.n;
	if (!e->is_section)
		end_value(r, e);
	else
		is_mixed(r);
}

static void
on_text(void *arg, const char *text, int n)
{
	struct reader *r = arg;

	for (int i = 0; !r->failed && i < n; i++) {
		bool blank = strchr(BLANKS, text[i]) != NULL;

		if (blank && (r->n_text == 0 || r->n_text == VALUE_ROOM - 1))
			continue;
		if (r->n_text == VALUE_ROOM - 1) {
			fm_fail(r->err, FM_E_CONFIG,
			    "%s:%u: a value of more than %d letters: \"%.40s...\"", r->path,
			    line_of(r), VALUE_ROOM - 1, r->text);
			stop(r);
			return;
		}
		r->text[r->n_text++] = text[i];
		r->text[r->n_text] = '\0';
	}
}

static void
on_doctype(void *arg, const char *name, const char *system, const char *public, int has_subset)
{
	struct reader *r = arg;

	if (r->failed)
		return;
	fm_fail(r->err, FM_E_CONFIG,
	    "%s:%u: <!DOCTYPE %.40s ...>: opa-fm's file declares no document type and no entities: "
	    "take it out",
	    r->path, line_of(r), name);
	stop(r);
}

/* expat's word for it, and for tags which of them was open. */
static int
blame(const struct reader *r, struct fm_error *err)
{
	enum XML_Error code = XML_GetErrorCode(r->parser);
	const struct opafm_element *open =
	    r->depth > 0 ? &r->x->elements.item[r->open[r->depth - 1]] : NULL;

	if (code == XML_ERROR_NO_MEMORY)
		return fm_fail(err, FM_E_RESOURCE, "%s: out of memory", r->path);
	if (open != NULL)
		return fm_fail(err, FM_E_CONFIG, "%s:%u: this is no XML: %s, in <%s> of line %u",
		    r->path, line_of(r), XML_ErrorString(code), open->name, open->line);
	return fm_fail(err, FM_E_CONFIG, "%s:%u: this is no XML: %s", r->path, line_of(r),
	    XML_ErrorString(code));
}

static int
parse(struct reader *r, const char *text, size_t n, struct fm_error *err)
{
	XML_SetUserData(r->parser, r);
	XML_SetElementHandler(r->parser, on_start, on_end);
	XML_SetCharacterDataHandler(r->parser, on_text);
	XML_SetStartDoctypeDeclHandler(r->parser, on_doctype);
	if (XML_Parse(r->parser, text, (int)n, 1) == XML_STATUS_OK && !r->failed)
		return 0;
	return r->failed ? (int)err->kind : blame(r, err);
}
#endif

int
opafm_read(struct opafm *x, const char *path, const char *text, size_t n, struct fm_error *err)
{
#ifdef HAVE_EXPAT
	struct reader r = { .x = x, .path = path, .err = err };
	int rc;

	if (n > INT_MAX)
		return fm_fail(err, FM_E_CONFIG, "%s: %zu bytes are no file of opa-fm's", path, n);
	r.parser = XML_ParserCreate(NULL);
	if (r.parser == NULL)
		return fm_fail(err, FM_E_RESOURCE, "%s: out of memory", path);
	rc = parse(&r, text, n, err);
	XML_ParserFree(r.parser);
	return rc;
#else
	return fm_fail(err, FM_E_CONFIG,
	    "%s is not read: this fmd is built without libexpat; configure it with --with-expat",
	    path);
#endif
}
