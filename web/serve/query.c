/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "web/serve/query.h"

#include <errno.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <stdlib.h>
#include <string.h>

static json_t *
word_of(const char *text)
{
	size_t n = strlen(text);

	return n >= 2 && text[0] == '"' && text[n - 1] == '"' ? json_stringn(text + 1, n - 2)
							      : json_string(text);
}

static json_t *
value_of(const char *text)
{
	json_int_t number;
	char *end;

	if (*text == '\0')
		return json_true();
	errno = 0;
	number = strtoll(text, &end, 0);
	return *end == '\0' && errno == 0 ? json_integer(number) : word_of(text);
}

static int
take(json_t *args, const char *key, json_t *value, struct fm_error *err)
{
	if (json_object_get(args, key) != NULL) {
		json_decref(value);
		return fm_fail(err, FM_E_CONFIG, "%.40s is said twice", key);
	}
	if (json_object_set_new(args, key, value) != 0)
		return fm_fail(err, FM_E_CONFIG, "what stands behind ? is no UTF-8 text");
	return 0;
}

static int
read_all(const char *text, json_t *(*value)(const char *text), json_t **args, struct fm_error *err)
{
	struct evkeyvalq words = { 0 };
	int rc = 0;

	*args = json_object();
	if (*args == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory");
	if (text == NULL || *text == '\0')
		return 0;
	if (evhttp_parse_query_str(text, &words) != 0)
		rc = fm_fail(err, FM_E_CONFIG,
		    "what stands behind ? is not KEY=VALUE, with & between several");
	for (const struct evkeyval *one = words.tqh_first; rc == 0 && one != NULL;
	     one = one->next.tqe_next)
		rc = take(*args, one->key, value(one->value), err);
	evhttp_clear_headers(&words);
	if (rc != 0) {
		json_decref(*args);
		*args = NULL;
	}
	return rc;
}

int
query_read(const char *text, json_t **args, struct fm_error *err)
{
	return read_all(text, value_of, args, err);
}

int
query_read_words(const char *text, json_t **args, struct fm_error *err)
{
	return read_all(text, word_of, args, err);
}

int
query_check(const json_t *args, const char *words, struct fm_error *err)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)args, key, value)
	{
		const char *at = words;
		size_t n = strlen(key);

		while (*at != '\0' && (strncmp(at, key, n) != 0 || strcspn(at, " ") != n)) {
			at += strcspn(at, " ");
			at += strspn(at, " ");
		}
		if (*at == '\0')
			return fm_fail(err, FM_E_CONFIG, "there is no %.40s here, but %s", key,
			    *words != '\0' ? words : "nothing behind ?");
	}
	return 0;
}
