/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/subnet/qos_policy_values.c - what stands behind the words of a policy file: numbers,
 * ranges, names.
 */
#include "core/subnet/qos_policy_read.h"
#include "core/text/number.h"

static int
read_number(struct policy_reader *r, const char *text, uint64_t max, uint64_t *out)
{
	if (!number_parse(text, out) || *out > max)
		return conf_bad(&r->text.at, "\"%.40s\" is no number 0..%llu (0x%llx)", text,
		    (unsigned long long)max, (unsigned long long)max);
	return 0;
}

int
policy_byte(struct policy_reader *r, const char *text, uint64_t max, uint8_t *out)
{
	uint64_t v;
	int rc = read_number(r, text, max, &v);

	if (rc == 0)
		*out = (uint8_t)v;
	return rc;
}

int
policy_ranges(
    struct policy_reader *r, char *text, uint64_t max, uint64_t mask, struct qos_ranges *out)
{
	char *word;

	while ((word = strsep(&text, ",")) != NULL) {
		char *dash = strchr(word, '-');
		struct qos_range range;
		int rc;

		if (dash != NULL)
			*dash = '\0';
		rc = read_number(r, conf_trim(word), max, &range.from);
		range.to = range.from;
		if (rc == 0 && dash != NULL)
			rc = read_number(r, conf_trim(dash + 1), max, &range.to);
		if (rc != 0)
			return rc;
		range.from &= mask;
		range.to &= mask;
		if (range.from > range.to)
			range = (struct qos_range){ range.to, range.from };
		if (!fm_vec_push(&out->of, range))
			return conf_no_memory(&r->text.at);
	}
	return 0;
}

int
policy_keep_text(struct policy_reader *r, const char *value, const char **out)
{
	if (*out != NULL)
		return conf_bad(&r->text.at,
		    "this is said twice in the block that begins in line %u", r->text.begun);
	*out = fm_arena_strdup(&r->p->mem, value);
	return *out != NULL ? 0 : conf_no_memory(&r->text.at);
}

int
policy_take_nothing(struct policy_reader *r, char *value)
{
	(void)r;
	(void)value;
	return 0;
}
