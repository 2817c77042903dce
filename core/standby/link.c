/* SPDX-License-Identifier: BSD-2-Clause */
/* core/standby/link.c - frames and their data. */
#include "core/standby/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/printable.h"

#define HEAD_BYTES 21
#define NUMBER 8
#define LID_BYTES (NUMBER + 3)
#define RECORD_HEAD 3 /* lengths of key and value */
#define HELLO_BYTES ((3u + LINK_GROUPS) * NUMBER)
#define MARKS_BYTES (2 * NUMBER + 1)
#define STAMP_BYTES (NUMBER + 1)
#define PART_HEAD (4 * NUMBER + 1)

const char *
link_type_name(unsigned type)
{
	static const char *const names[] = { [LINK_HELLO] = "HELLO",
		[LINK_WELCOME] = "WELCOME",
		[LINK_RECORDS] = "RECORDS",
		[LINK_LIDS] = "LIDS",
		[LINK_MARKS] = "MARKS",
		[LINK_PART] = "PART",
		[LINK_WHOLE] = "WHOLE",
		[LINK_ALIVE] = "ALIVE",
		[LINK_HAVE] = "HAVE",
		[LINK_BYE] = "BYE",
		[LINK_SMS] = "SMS" };

	return type >= LINK_HELLO && type < LINK_TYPES ? names[type] : NULL;
}

const char *
link_group_name(enum link_group g)
{
	static const char *const names[LINK_GROUPS] = { [LINK_PARTITIONS] = "partitions",
		[LINK_QOS] = "QoS settings",
		[LINK_ROUTING] = "routing engines or regions",
		[LINK_PREFIX] = "subnet prefix",
		[LINK_LMC] = "LMC",
		[LINK_KEYS] = "SM_Key, SA_Key or M_Key" };

	return names[g];
}

/* ---------------------------------------------------------------------- frames */

static void
put_number(uint8_t *at, uint64_t v, unsigned n_bytes)
{
	for (unsigned i = 0; i < n_bytes; i++)
		at[i] = (uint8_t)(v >> (8 * (n_bytes - 1 - i)));
}

static uint64_t
get_number(const uint8_t *at, unsigned n_bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < n_bytes; i++)
		v = v << 8 | at[i];
	return v;
}

bool
link_put(
    struct evbuffer *out, enum link_type type, uint64_t term, uint64_t seq, struct evbuffer *data)
{
	uint8_t head[HEAD_BYTES];

	put_number(head, data == NULL ? 0 : evbuffer_get_length(data), 4);
	head[4] = (uint8_t)type;
	put_number(head + 5, term, NUMBER);
	put_number(head + 13, seq, NUMBER);
	return evbuffer_add(out, head, sizeof(head)) == 0 &&
	    (data == NULL || evbuffer_add_buffer(out, data) == 0);
}

int
link_get(struct evbuffer *in, struct link_frame *f, struct fm_error *err)
{
	size_t n = evbuffer_get_length(in);
	uint8_t head[HEAD_BYTES];
	uint64_t length;
	const uint8_t *at;

	if (n < HEAD_BYTES)
		return 0;
	evbuffer_copyout(in, head, sizeof(head));
	length = get_number(head, 4);
	if (link_type_name(head[4]) == NULL)
		return fm_fail(err, FM_E_SYSTEM, "%u is no type of a frame", head[4]);
	if (length > LINK_MOST_BYTES)
		return fm_fail(err, FM_E_SYSTEM, "a frame %s of %ju bytes, at most %u are taken",
		    link_type_name(head[4]), (uintmax_t)length, LINK_MOST_BYTES);
	if (n - HEAD_BYTES < length)
		return 0;
	at = evbuffer_pullup(in, (ev_ssize_t)(HEAD_BYTES + length));
	if (at == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for a frame");
	*f = (struct link_frame){ .type = (enum link_type)head[4],
		.term = get_number(head + 5, NUMBER),
		.seq = get_number(head + 13, NUMBER),
		.data = at + HEAD_BYTES,
		.n = (size_t)length };
	return 1;
}

void
link_drop(struct evbuffer *in, const struct link_frame *f)
{
	evbuffer_drain(in, HEAD_BYTES + f->n);
}

/* ------------------------------------------------------------------------ data */

static int
wrong(const struct link_frame *f, const char *what, struct fm_error *err)
{
	return fm_fail(
	    err, FM_E_SYSTEM, "a frame %s of %zu bytes %s", link_type_name(f->type), f->n, what);
}

static bool
add_number(struct evbuffer *data, uint64_t v, unsigned n_bytes)
{
	uint8_t bytes[NUMBER];

	put_number(bytes, v, n_bytes);
	return evbuffer_add(data, bytes, n_bytes) == 0;
}

bool
link_add_hello(struct evbuffer *data, const struct link_hello *h)
{
	bool ok = add_number(data, h->version, NUMBER) && add_number(data, h->guid, NUMBER) &&
	    add_number(data, h->term, NUMBER);

	for (unsigned g = 0; g < LINK_GROUPS; g++)
		ok = ok && add_number(data, h->hash[g], NUMBER);
	return ok;
}

/* Another version may have more to say behind its number. */
int
link_read_hello(const struct link_frame *f, struct link_hello *h, struct fm_error *err)
{
	uint64_t version;

	*h = (struct link_hello){ 0 };
	if (f->n < NUMBER)
		return wrong(f, "has no version", err);
	version = get_number(f->data, NUMBER);
	if (version != LINK_VERSION)
		return fm_fail(err, FM_E_SYSTEM,
		    "it speaks version %ju of the link, this fmd version %u: have both be of one "
		    "release",
		    (uintmax_t)version, LINK_VERSION);
	if (f->n != HELLO_BYTES)
		return wrong(f, "has another length than its version", err);
	h->version = (uint32_t)version;
	h->guid = get_number(f->data + NUMBER, NUMBER);
	h->term = get_number(f->data + 2 * NUMBER, NUMBER);
	for (unsigned g = 0; g < LINK_GROUPS; g++)
		h->hash[g] = get_number(f->data + (3 + g) * NUMBER, NUMBER);
	return 0;
}

bool
link_add_stamp(struct evbuffer *data, const struct link_stamp *s)
{
	return add_number(data, s->in_sync, 1) && add_number(data, (uint64_t)s->ms, NUMBER);
}

int
link_read_stamp(const struct link_frame *f, struct link_stamp *s, struct fm_error *err)
{
	*s = (struct link_stamp){ 0 };
	if (f->n != STAMP_BYTES || f->data[0] > 1 || f->data[1] > 0x7f)
		return wrong(f, "has no stamp", err);
	*s = (struct link_stamp){ f->data[0] != 0, (int64_t)get_number(f->data + 1, NUMBER) };
	return 0;
}

bool
link_add_marks(struct evbuffer *data, const struct link_marks *m)
{
	return add_number(data, m->mark, NUMBER) && add_number(data, m->m_key, NUMBER) &&
	    add_number(data, m->untold, 1);
}

int
link_read_marks(const struct link_frame *f, struct link_marks *m, struct fm_error *err)
{
	*m = (struct link_marks){ 0 };
	if (f->n != MARKS_BYTES || f->data[2 * NUMBER] > 1)
		return wrong(f, "has no marks", err);
	*m = (struct link_marks){ get_number(f->data, NUMBER), get_number(f->data + NUMBER, NUMBER),
		f->data[2 * NUMBER] != 0 };
	return 0;
}

bool
link_add_records(struct evbuffer *data, const struct store_record *r, uint32_t n, bool anew)
{
	bool ok = add_number(data, anew, 1) && add_number(data, n, 4);

	for (uint32_t i = 0; ok && i < n; i++)
		ok = add_number(data, r[i].n_key, 1) &&
		    add_number(data, r[i].value == NULL ? 0 : r[i].n_value, 2) &&
		    evbuffer_add(data, r[i].key, r[i].n_key) == 0 &&
		    (r[i].value == NULL || evbuffer_add(data, r[i].value, r[i].n_value) == 0);
	return ok;
}

/* The record at *at of the data; false: there is none. */
static bool
read_record(const struct link_frame *f, size_t *at, struct store_record *r)
{
	const uint8_t *head = f->data + *at;
	size_t n_key, n_value;

	if (f->n - *at < RECORD_HEAD)
		return false;
	n_key = head[0];
	n_value = (size_t)get_number(head + 1, 2);
	if (n_key == 0 || n_key > STORE_KEY_MAX || f->n - *at - RECORD_HEAD < n_key + n_value)
		return false;
	*r = (struct store_record){ head + RECORD_HEAD,
		n_value > 0 ? head + RECORD_HEAD + n_key : NULL, n_key, n_value };
	*at += RECORD_HEAD + n_key + n_value;
	return true;
}

int
link_read_records(const struct link_frame *f, struct link_records *r, struct fm_error *err)
{
	size_t at = 5;
	uint64_t n;

	*r = (struct link_records){ 0 };
	if (f->n < at || f->data[0] > 1)
		return wrong(f, "has no count of records", err);
	n = get_number(f->data + 1, 4);
	if (n > (f->n - at) / RECORD_HEAD)
		return wrong(f, "has room for fewer records than it says", err);
	r->item = malloc((size_t)(n + 1) * sizeof(*r->item));
	if (r->item == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for records");
	r->anew = f->data[0] != 0;
	for (; r->n < n; r->n++)
		if (!read_record(f, &at, &r->item[r->n]))
			break;
	if (r->n == n && at == f->n)
		return 0;
	free(r->item);
	*r = (struct link_records){ 0 };
	return wrong(f, "has a record that does not end where it is to", err);
}

bool
link_add_lids(struct evbuffer *data, const struct store_lid *lids, uint32_t n)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < n; i++)
		ok = add_number(data, lids[i].guid, NUMBER) && add_number(data, lids[i].lid, 2) &&
		    add_number(data, lids[i].lmc, 1);
	return ok;
}

int
link_read_lids(const struct link_frame *f, struct link_lids *l, struct fm_error *err)
{
	*l = (struct link_lids){ 0 };
	if (f->n % LID_BYTES != 0)
		return wrong(f, "ends within a LID", err);
	l->item = malloc((f->n / LID_BYTES + 1) * sizeof(*l->item));
	if (l->item == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for LIDs");
	for (size_t at = 0; at < f->n; at += LID_BYTES)
		l->item[l->n++] = (struct store_lid){ get_number(f->data + at, NUMBER),
			(uint16_t)get_number(f->data + at + NUMBER, 2), f->data[at + NUMBER + 2] };
	return 0;
}

bool
link_add_sms(struct evbuffer *data, const uint64_t *guid, uint32_t n)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < n; i++)
		ok = add_number(data, guid[i], NUMBER);
	return ok;
}

int
link_read_sms(const struct link_frame *f, struct link_sms *l, struct fm_error *err)
{
	*l = (struct link_sms){ 0 };
	if (f->n % NUMBER != 0)
		return wrong(f, "ends within a GUID", err);
	l->guid = malloc(f->n + NUMBER);
	if (l->guid == NULL)
		return fm_fail(err, FM_E_RESOURCE, "out of memory for other SMs");
	for (size_t at = 0; at < f->n; at += NUMBER)
		l->guid[l->n++] = get_number(f->data + at, NUMBER);
	return 0;
}

bool
link_add_part(struct evbuffer *data, const struct link_part *p)
{
	return add_number(data, p->which, 1) && add_number(data, p->number, NUMBER) &&
	    add_number(data, p->base, NUMBER) && add_number(data, p->at, NUMBER) &&
	    add_number(data, p->n_all, NUMBER) && evbuffer_add(data, p->bytes, p->n) == 0;
}

int
link_read_part(const struct link_frame *f, struct link_part *p, struct fm_error *err)
{
	uint64_t at, n_all;

	*p = (struct link_part){ 0 };
	if (f->n < PART_HEAD || f->data[0] >= LINK_FILES)
		return wrong(f, "is of no file that is known", err);
	at = get_number(f->data + 1 + 2 * NUMBER, NUMBER);
	n_all = get_number(f->data + 1 + 3 * NUMBER, NUMBER);
	if (n_all > LINK_MOST_BYTES || at > n_all || f->n - PART_HEAD > n_all - at)
		return wrong(f, "goes beyond its file, or that is too long", err);
	*p = (struct link_part){ (enum link_file)f->data[0], get_number(f->data + 1, NUMBER),
		get_number(f->data + 1 + NUMBER, NUMBER), (size_t)at, (size_t)n_all,
		f->n - PART_HEAD, f->data + PART_HEAD };
	return 0;
}

void
link_read_bye(const struct link_frame *f, char *text, size_t size)
{
	snprintf(text, size, "%.*s", (int)(f->n < size ? f->n : size - 1), (const char *)f->data);
	fm_printable(text);
}
