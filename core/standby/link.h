/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/standby/link.h - what the master tells its standbys, as bytes.
 *
 * A standby connects to the master and says HELLO.  The master answers WELCOME, then all that
 * outlives an fmd, then WHOLE, and from there on each change:
 *
 *	standby			master
 *	HELLO ───────────────►
 *		◄───────────── WELCOME, RECORDS, LIDS, MARKS, SMS, WHOLE
 *	HAVE ────────────────►
 *		◄───────────── RECORDS, LIDS, MARKS, SMS, ... as they change
 *	HAVE ────────────────►
 *		◄───────────── PART of a file, or of what makes it of an earlier one,
 *				while nothing else is to be sent
 *		◄───────────── ALIVE, each LINK_ALIVE_MS
 *
 * Either says BYE with a sentence before it closes.  A frame is
 *
 *	length	4 bytes, of the data
 *	type	1
 *	term	8, of the master: who becomes master takes a higher one
 *	seq	8, counts the master's frames from WELCOME = 1; ALIVE, PART and BYE have 0; in
 *		HAVE: all up to it
 *	data
 *
 * with numbers most significant byte first.  What comes is bad input: each length is held against
 * what there is before anything is read or allocated.  No sockets, no clock.
 */
#ifndef CORE_STANDBY_LINK_H
#define CORE_STANDBY_LINK_H

#include <event2/buffer.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/store/store.h"

#define LINK_VERSION 3
#define LINK_ALIVE_MS 50	     /* between two */
#define LINK_SILENT_MS 150	     /* since the last frame of the master: it is silent */
#define LINK_MOST_BYTES (256u << 20) /* of data in a frame, and of a file */
#define LINK_PART_BYTES (128u << 10) /* of a file in a frame */
#define LINK_TERM_MAX INT64_MAX	     /* no clock comes there, and one more is one more */

enum link_type {
	LINK_HELLO = 1,
	LINK_WELCOME,
	LINK_RECORDS, /* what hosts have registered, as in the store */
	LINK_LIDS,
	LINK_MARKS,
	LINK_WHOLE,
	LINK_PART,  /* of one of enum link_file */
	LINK_ALIVE, /* is the standby in sync? */
	LINK_HAVE,  /* for each ALIVE, and for what has come */
	LINK_BYE,
	LINK_SMS, /* that the master knows, and the standbys that have its log */
	LINK_TYPES
};
const char *link_type_name(unsigned type);

/* Files that outlive an fmd, by place in its state directory. */
enum link_file { LINK_TABLES, LINK_NODES, LINK_ISOLATED, LINK_FILES };

struct link_frame {
	enum link_type type;
	uint64_t term, seq;
	const uint8_t *data;
	size_t n; /* bytes of data */
};

/* Append a frame with these data, which are moved (NULL: none).  False: out of memory. */
bool link_put(
    struct evbuffer *out, enum link_type type, uint64_t term, uint64_t seq, struct evbuffer *data);
/* The first frame of what has come; its data are good until link_drop(), which takes it out.  1: *f
 * is one.  0: it has not all come yet.  FM_E_SYSTEM: it is none, FM_E_RESOURCE. */
int link_get(struct evbuffer *in, struct link_frame *f, struct fm_error *err);
void link_drop(struct evbuffer *in, const struct link_frame *f);

/* What must be equal on both sides, by group; link_group_name() is how a sentence names it. */
enum link_group {
	LINK_PARTITIONS,
	LINK_QOS,
	LINK_ROUTING,
	LINK_PREFIX,
	LINK_LMC,
	LINK_KEYS,
	LINK_GROUPS
};
const char *link_group_name(enum link_group g);

struct link_hello {
	uint32_t version;
	uint64_t guid; /* of the standby's port */
	uint64_t term; /* the highest that it has seen */
	uint64_t hash[LINK_GROUPS];
};
struct link_marks {
	uint64_t mark, m_key;
	bool untold;
};
/* Of ALIVE: the stamp of the last HAVE that came before it; of HAVE: the standby's clock. */
struct link_stamp {
	bool in_sync; /* ALIVE */
	int64_t ms;
};
struct link_records {
	struct store_record *item; /* malloced; keys and values are the frame's */
	uint32_t n;
	bool anew; /* there are no others */
};
/* Bytes at..at + n of n_all, which are the file of that number, or, where base is not 0, what makes
 * it of the file of the number base (diff.h). */
struct link_part {
	enum link_file which;
	uint64_t number, base;
	size_t at, n_all, n;
	const uint8_t *bytes;
};
struct link_lids {
	struct store_lid *item; /* malloced */
	uint32_t n;
};
struct link_sms {
	uint64_t *guid; /* [n] of their ports, malloced */
	uint32_t n;
};

/* Data of frames, and back.  Writing: false is out of memory.  Reading: 0, FM_E_SYSTEM with what is
 * wrong, FM_E_RESOURCE. */
bool link_add_hello(struct evbuffer *data, const struct link_hello *h);
int link_read_hello(const struct link_frame *f, struct link_hello *h, struct fm_error *err);
bool link_add_stamp(struct evbuffer *data, const struct link_stamp *s);
int link_read_stamp(const struct link_frame *f, struct link_stamp *s, struct fm_error *err);
bool link_add_marks(struct evbuffer *data, const struct link_marks *m);
int link_read_marks(const struct link_frame *f, struct link_marks *m, struct fm_error *err);
bool link_add_records(struct evbuffer *data, const struct store_record *r, uint32_t n, bool anew);
int link_read_records(const struct link_frame *f, struct link_records *r, struct fm_error *err);
bool link_add_lids(struct evbuffer *data, const struct store_lid *lids, uint32_t n);
int link_read_lids(const struct link_frame *f, struct link_lids *l, struct fm_error *err);
bool link_add_sms(struct evbuffer *data, const uint64_t *guid, uint32_t n);
int link_read_sms(const struct link_frame *f, struct link_sms *l, struct fm_error *err);
bool link_add_part(struct evbuffer *data, const struct link_part *p);
int link_read_part(const struct link_frame *f, struct link_part *p, struct fm_error *err);
/* A sentence of the other side, with what is not printable left out. */
void link_read_bye(const struct link_frame *f, char *text, size_t size);

#endif
