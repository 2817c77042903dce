/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/sweep/sa_rig.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static void
keep_answer(void *arg, const struct mad_addr *to, const uint8_t *bytes, size_t n_bytes)
{
	struct sa_rig *s = arg;
	struct sa_header h;

	sa_header_get(bytes, &h);
	if (h.method == SA_REPORT) {
		s->n_reports++;
		s->report = h;
		s->report_to = *to;
		sa_record_get(sa_record_of(SA_NOTICE), bytes + SA_DATA_AT, &s->notice);
		return;
	}
	if (to->lid != s->from.lid)
		ck_abort_msg("an answer leaves to LID %u, not %u", to->lid, s->from.lid);
	free(s->bytes);
	s->bytes = malloc(n_bytes);
	if (s->bytes == NULL)
		ck_abort_msg("out of memory");
	memcpy(s->bytes, bytes, n_bytes);
	s->n_bytes = n_bytes;
	s->n_answers++;
	sa_header_get(bytes, &s->h);
}

void
sa_rig_start(struct sa_rig *s, struct rig *rig)
{
	const struct inventory *inv = sweeper_inventory(rig->sweeper);
	struct sa_out out = { keep_answer, s };
	struct registry_settings limits;

	memset(s, 0, sizeof(*s));
	s->rig = rig;
	s->set = (struct sa_settings){
		.gid_prefix = rig->set.addresses.subnet_prefix, .sa_key = 1, .path_life = 18
	};
	s->from.lid = inv_node(inv, inv->local)->ports[inv->local_port].lid;
	s->from.qpn = 1;
	sa_slot_init(&s->slot);
	registry_settings_default(&limits);
	s->registry = registry_new(&limits);
	s->sa = sa_new(&s->slot, &out, s->registry);
	ck_assert_ptr_nonnull(s->sa);
}

void
sa_rig_publish(struct sa_rig *s)
{
	struct sa_view *prev = sa_slot_get(&s->slot), *v = NULL;
	struct sa_other_sm us = { .lid = s->from.lid };
	struct plan_installed *installed;
	size_t n_installed;
	struct sa_view_source src = { .inv = sweeper_inventory(s->rig->sweeper),
		.plan = (struct plan *)(uintptr_t)sweeper_plan(s->rig->sweeper),
		.set = &s->set,
		.sm = &us,
		.n_sms = 1,
		.pkeys = s->pkeys != NULL ? s->pkeys : sweeper_pkeys(s->rig->sweeper),
		.prev = prev };
	struct fm_error err = { 0 };

	ck_assert(sweeper_installed(s->rig->sweeper, &installed, &n_installed));
	src.installed = installed;
	src.n_installed = n_installed;
	sweeper_own_sm(s->rig->sweeper, &us.info);
	ck_assert_msg(sa_view_begin(&src, &v, &err) == 0, "%s", err.msg);
	ck_assert_msg(sa_view_finish(v, prev, NULL, &err) == 0, "%s", err.msg);
	sa_slot_set(&s->slot, v);
	free(installed);
	sa_view_put(prev);
}

void
sa_rig_fini(struct sa_rig *s)
{
	sa_free(s->sa);
	registry_free(s->registry);
	sa_slot_fini(&s->slot);
	free(s->bytes);
	memset(s, 0, sizeof(*s));
}

/* One request; its transaction id. */
static uint64_t
ask(struct sa_rig *s, uint8_t method, uint16_t attr, uint64_t mask, const void *want)
{
	const struct sa_record *r = sa_record_of(attr);
	struct sa_header h = { .base_version = 1,
		.mgmt_class = WIRE_CLASS_SA,
		.class_version = SA_CLASS_VERSION,
		.method = method,
		.attr = attr,
		.modifier = s->modifier,
		.tid = 0x1234567800000000 + s->n_answers,
		.sm_key = s->sm_key,
		.mask = mask };
	uint8_t mad[MAD_BYTES] = { 0 };

	sa_header_put(mad, &h);
	if (r != NULL && want != NULL)
		sa_record_put(r, mad + SA_DATA_AT, want);
	for (unsigned i = 0; i < s->n_gids; i++)
		sa_gid_put(mad + SA_DATA_AT + SA_MULTI_PATH_GIDS_AT + 16 * i, s->gid[i]);
	sa_handle(s->sa, &s->from, mad, sizeof(mad), s->now_ms);
	return h.tid;
}

void
sa_rig_ask_in_vain(struct sa_rig *s, uint8_t method, uint16_t attr, uint64_t mask, const void *want)
{
	uint32_t before = s->n_answers;

	ask(s, method, attr, mask, want);
	ck_assert_uint_eq(s->n_answers, before);
}

uint16_t
sa_rig_ask(struct sa_rig *s, uint8_t method, uint16_t attr, uint64_t mask, const void *want)
{
	uint32_t before = s->n_answers;
	uint64_t tid = ask(s, method, attr, mask, want);
	uint8_t answer = method == SA_SET  ? SA_GET_RESP
	    : method == SA_GET_TRACE_TABLE ? SA_GET_TABLE_RESP
					   : method | WIRE_RESPONSE_BIT;

	/* libcheck writes a file at each assertion: none for each of 100,000 questions */
	if (s->n_answers != before + 1 || s->h.tid != tid || s->h.method != answer)
		ck_abort_msg("%u answers, transaction 0x%jx of 0x%jx, method %u, not %u",
		    s->n_answers - before, (uintmax_t)s->h.tid, (uintmax_t)tid, s->h.method,
		    answer);
	return s->h.status;
}

uint32_t
sa_rig_n(const struct sa_rig *s)
{
	if (s->h.status != SA_OK)
		return 0;
	if (s->h.method == SA_GET_RESP)
		return 1;
	if (s->h.attr_words == 0)
		return 0; /* an empty table */
	return (uint32_t)((s->n_bytes - SA_DATA_AT) / (8u * s->h.attr_words));
}

void
sa_rig_record(const struct sa_rig *s, uint32_t i, void *v)
{
	if (i >= sa_rig_n(s))
		ck_abort_msg("there is no record %u", i);
	sa_record_get(
	    sa_record_of(s->h.attr), s->bytes + SA_DATA_AT + (size_t)i * 8u * s->h.attr_words, v);
}
