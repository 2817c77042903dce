/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sa_mads - MADs to the SA as they are written down, and its answers, byte by byte.
 *
 *	sa_mads SM_LID whole|raw MS WINDOW <QUESTIONS
 *
 * A question is a line NAME|METHOD|ATTRIBUTE|MASK|SM_KEY|MODIFIER|AT:HEX..., AT from the first
 * record on.  It is answered by NAME|HEX, or NAME|- where nothing comes for so many ms; WINDOW
 * are under way at once.  whole: tables as they are put together by RMPP; raw: the first MAD of
 * an answer, the rest is stopped.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mad/umad_agent.h"
#include "core/rmpp/rmpp.h"
#include "core/wire/sa_wire.h"
#include "lib/vec.h"

#define GSI_QKEY 0x80010000
#define MOST_BYTES 2048
#define NAME_BYTES 80
#define TID_LOW_AT 12

struct question {
	char name[NAME_BYTES];
	bool answered;
	size_t n;
	uint8_t bytes[MOST_BYTES];
};

struct asker {
	struct umad_agent *agent;
	struct mad_addr to;
	bool raw;
	int timeout_ms;
	FM_VEC(struct question) questions;
};

static int
fail(const char *what)
{
	fprintf(stderr, "sa_mads: %s\n", what);
	return 1;
}

/* ------------------------------------------------------------------ questions */

/* AT:HEX; how many bytes the message has then, 0: it is none. */
static size_t
put_bytes(uint8_t *mad, const char *word)
{
	char *hex;
	size_t at = SA_DATA_AT + strtoul(word, &hex, 0);
	unsigned byte;

	if (*hex != ':')
		return 0;
	for (hex++; sscanf(hex, "%2x", &byte) == 1 && at < MOST_BYTES; hex += 2)
		mad[at++] = (uint8_t)byte;
	return *hex == '\0' ? at : 0;
}

static bool
put_payload(struct question *q, char *words)
{
	char *rest = NULL;

	q->n = WIRE_MAD_BYTES;
	for (char *w = strtok_r(words, " \n", &rest); w != NULL; w = strtok_r(NULL, " \n", &rest)) {
		size_t n = put_bytes(q->bytes, w);

		if (n == 0)
			return false;
		if (n > q->n)
			q->n = n;
	}
	return true;
}

static bool
read_question(char *line, uint32_t number, struct question *q)
{
	struct sa_header h = { .base_version = 1,
		.mgmt_class = WIRE_CLASS_SA,
		.class_version = SA_CLASS_VERSION,
		.tid = number };
	char *word[7];

	memset(q, 0, sizeof(*q));
	for (int i = 0; i < 7; i++)
		if ((word[i] = strsep(&line, "|")) == NULL)
			return false;
	snprintf(q->name, sizeof(q->name), "%s", word[0]);
	h.method = (uint8_t)strtoul(word[1], NULL, 0);
	h.attr = (uint16_t)strtoul(word[2], NULL, 0);
	h.mask = strtoull(word[3], NULL, 0);
	h.sm_key = strtoull(word[4], NULL, 0);
	h.modifier = (uint32_t)strtoul(word[5], NULL, 0);
	if (h.method == SA_GET_MULTI) { /* goes by RMPP itself (IBA 15.2.2) */
		h.rmpp_version = SA_RMPP_VERSION;
		h.rmpp_type = SA_RMPP_DATA;
		h.rmpp_flags = SA_RMPP_ACTIVE;
	}
	sa_header_put(q->bytes, &h);
	return put_payload(q, word[6]);
}

static bool
read_questions(struct asker *a)
{
	static char line[2 * MOST_BYTES];

	while (fgets(line, sizeof(line), stdin) != NULL) {
		struct question q;

		if (!read_question(line, (uint32_t)a->questions.n, &q) ||
		    !fm_vec_push(&a->questions, q))
			return false;
	}
	return a->questions.n > 0;
}

/* -------------------------------------------------------------------- answers */

static void
print_answer(struct question *q, const uint8_t *bytes, size_t n)
{
	q->answered = true;
	printf("%s|", q->name);
	for (size_t i = 0; i < n; i++)
		printf("%02x", bytes[i]);
	puts(bytes == NULL ? "-" : "");
}

/* Nobody is to repeat a table that is not wanted. */
static void
stop_transfer(struct asker *a, const struct umad_message *m)
{
	uint8_t mad[WIRE_MAD_BYTES] = { 0 };
	struct fm_error err = { 0 };
	struct sa_header h;

	sa_header_get(m->bytes, &h);
	h.method &= (uint8_t)~WIRE_RESPONSE_BIT;
	h.rmpp_type = RMPP_STOP;
	h.rmpp_flags = RMPP_ACTIVE;
	h.rmpp_status = RMPP_NO_RESOURCES;
	h.rmpp_data1 = h.rmpp_data2 = 0;
	sa_header_put(mad, &h);
	umad_agent_send(a->agent, &a->to, mad, sizeof(mad), 0, 0, &err);
}

/* True: a question is over. */
static bool
take_answer(struct asker *a, const struct umad_message *m)
{
	uint32_t i = wire_get32(m->bytes + TID_LOW_AT);
	struct question *q = i < a->questions.n ? &a->questions.item[i] : NULL;

	if (q == NULL || q->answered)
		return false; /* more segments of a table */
	if (m->status != 0)
		print_answer(q, NULL, 0);
	else
		print_answer(q, m->bytes, m->n_bytes);
	if (m->status == 0 && a->raw && rmpp_is_active(m->bytes))
		stop_transfer(a, m);
	return true;
}

static int
ask_all(struct asker *a, size_t window)
{
	struct fm_error err = { 0 };
	struct umad_message m;
	size_t sent = 0, over = 0;

	while (over < a->questions.n) {
		for (; sent < a->questions.n && sent - over < window; sent++) {
			const struct question *q = &a->questions.item[sent];

			if (umad_agent_send(
				a->agent, &a->to, q->bytes, q->n, a->timeout_ms, 0, &err) != 0)
				return fail(err.msg);
		}
		if (umad_agent_receive(a->agent, 60000, &m) != 1)
			return fail("neither an answer nor a time-out");
		over += take_answer(a, &m);
	}
	return 0;
}

int
main(int argc, char **argv)
{
	struct umad_agent_class class = { .mgmt_class = WIRE_CLASS_SA,
		.class_version = SA_CLASS_VERSION };
	struct asker a = { .to = { .qpn = 1, .qkey = GSI_QKEY } };
	struct fm_error err = { 0 };
	int rc;

	setvbuf(stdout, NULL, _IOLBF, 0); /* an answer is a line, for who waits for the first */
	if (argc != 5)
		return fail("usage: sa_mads SM_LID whole|raw MS WINDOW <QUESTIONS");
	a.to.lid = (uint16_t)strtoul(argv[1], NULL, 0);
	a.raw = strcmp(argv[2], "raw") == 0;
	a.timeout_ms = (int)strtol(argv[3], NULL, 10);
	class.rmpp = !a.raw;
	if (!read_questions(&a))
		return fail("there is a line that is no question");
	if (umad_agent_open("umad", &class, &a.agent, &err) != 0)
		return fail(err.msg);
	rc = ask_all(&a, strtoul(argv[4], NULL, 0));
	umad_agent_close(a.agent);
	fm_vec_fini(&a.questions);
	return rc;
}
