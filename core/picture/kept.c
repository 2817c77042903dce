/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/picture/kept.h"

#include <stdlib.h>

/* Of the loop's thread alone. */
struct kept_text {
	struct ctl_text text;
	unsigned n_holders;
};

static void
release(const void *bytes, size_t n, void *arg)
{
	struct kept_text *t = arg;

	(void)bytes;
	(void)n;
	if (--t->n_holders > 0)
		return;
	free(t->text.bytes);
	free(t);
}

static int
write_text(const struct picture *p, struct kept_text **out, struct fm_error *err)
{
	struct kept_text *t = calloc(1, sizeof(*t));
	int rc;

	if (t == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for the answer");
	rc = picture_write(p, &t->text, err);
	if (rc != 0) {
		free(t);
		return rc;
	}
	t->n_holders = 1;
	*out = t;
	return 0;
}

/* What is there is kept where it is the same. */
static int
take(struct picture_kept *k, const struct picture *p, struct fm_error *err)
{
	char generation[PICTURE_GENERATION_BYTES];
	struct kept_text *text = NULL;

	picture_generation(p, generation);
	if (k->text != NULL && strcmp(generation, k->generation) == 0)
		return 0;
	if (write_text(p, &text, err) != 0)
		return (int)err->kind;
	picture_drop(k);
	k->text = text;
	memcpy(k->generation, generation, sizeof(generation));
	return 0;
}

int
picture_keep(
    struct picture_kept *k, const struct picture_of *of, bool is_idle, struct fm_error *err)
{
	uint64_t key = picture_key(of);
	struct picture p;
	int rc;

	if (k->text != NULL && k->is_whole && (k->key == key || !is_idle))
		return 0;
	rc = picture_make(of, &p, err);
	if (rc == 0)
		rc = take(k, &p, err);
	picture_fini(&p);
	if (rc != 0)
		return rc;
	k->key = key;
	k->is_whole = is_idle;
	return 0;
}

struct ctl_text
picture_text(const struct picture_kept *k)
{
	k->text->n_holders++;
	return (struct ctl_text){ k->text->text.bytes, k->text->text.n, release, k->text };
}

void
picture_drop(struct picture_kept *k)
{
	if (k->text != NULL)
		release(NULL, 0, k->text);
	*k = (struct picture_kept){ 0 };
}
