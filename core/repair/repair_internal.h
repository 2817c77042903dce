/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/repair/repair_internal.h - what the parts of repair share.
 *
 *	repair.c	 one LID, the plan
 *	repair_shards.c	 LID after LID, by all workers
 *	repair_event.c	 which entries an event touches
 *	repair_lid.c	 the entries of one LID that lead nowhere
 *	repair_choice.c	 the channels that one of them may have
 *	repair_ports.c	 the same where VLs go by ports
 *	repair_move.c	 the same under other SLs
 *	repair_idle.c	 those of them that no packets need
 *	repair_way.c	 following ways, changing entries
 *	repair_columns.c the entries of a LID side by side
 *	repair_back.c	 the entries of one LID that can go back
 *	repair_state.c	 what is kept between plans
 *	repair_verdict.c sums per LID, so that only what changed is judged
 */
#ifndef CORE_REPAIR_REPAIR_INTERNAL_H
#define CORE_REPAIR_REPAIR_INTERNAL_H

#include "core/cdg/depend.h"
#include "core/plan/keep.h"
#include "core/repair/repair.h"
#include "lib/bitset.h"

#define REPAIR_FAR UINT32_MAX /* does not arrive */

#define REPAIR_SHARDS 4u /* LIDs are chosen for by so many at once, however many workers */

/* Of a switch: which of its channels hold all turns into one of its ports. */
struct repair_cover {
	uint32_t n; /* in cover_list from the switch's first channel on */
	uint8_t port;
	uint64_t changes; /* of the dependencies, by then; UINT64_MAX: never looked at */
};

/* Room to choose in, kept between events. */
struct repair_room {
	/* [n_switches] each */
	uint32_t *mark, *spot_of, *arrives, *held, *was, *nominal, *fails;
	struct repair_cover *cover; /* [n_switches] */
	uint32_t *cover_list;	    /* [n_channels] */
	uint32_t *load;		    /* [n_channels] of a shard */
	fm_sw *go;		    /* [n_channels] of all but the shards */
	uint8_t *owns;		    /* [n_switches] of a shard: its own loads */
	uint16_t *seen;		    /* [n_switches] */
	uint8_t *column;	    /* [n_switches] */
};

/* The tables turned round. */
struct repair_columns {
	uint8_t *at;   /* [n][stride] by LID and switch */
	uint32_t n;    /* LIDs */
	size_t stride; /* whole lines of the cache */
	size_t n_bytes;
};

/* Of the tables of one plan, on the graph an engine made them for. */
struct repair_state {
	struct tables *tables;	/* one reference */
	struct snapshot *graph; /* one reference */
	struct depend *g;
	uint32_t *load; /* [n_channels] LIDs that leave by it */
	/* A copy of older tables and what has changed since: the next plan's. */
	struct tables *spare; /* NULL: none */
	FM_VEC(struct plan_entry) lag;
	struct lid_sums *sums; /* [n_sums] by LID; NULL: not known */
	uint32_t n_sums;
	struct repair_columns *columns; /* of tables; NULL: not made */
	struct snapshot *sums_snap;	/* one reference: the ends they count */
	/* Whom the dependencies and entries are right for. */
	uint8_t *served; /* [n_served] by LID */
	uint32_t n_served;
	uint8_t *sends;	       /* [n_switches] */
	bool serves_snap;      /* these are the ends of snap */
	bool holds_absent;     /* g has what packets to the absent LIDs of the plan depend on */
	bool unsure;	       /* of entries that could go back: look at all of them */
	struct snapshot *snap; /* one reference: of the plan these are the tables of */
	uint64_t *lost;	       /* [n_channels] bits: cables that snap lacks */
	struct repair_room room, shard_room[REPAIR_SHARDS];
};

/* A LID's entry at a switch, before it is known what is wrong with it. */
struct repair_item {
	uint16_t lid;
	fm_sw sw;
};

enum repair_mark {
	MARK_NONE,
	MARK_LOST, /* leads nowhere now */
	MARK_SETTLED,
	MARK_BACK, /* nominal path leads on */
	MARK_DEAD  /* nominal path does not */
};

/* A switch of which entry is chosen anew. */
struct repair_spot {
	fm_sw sw;
	uint8_t old_port;
	uint32_t old_depth; /* links to the LID before; 0: it led nowhere then */
	uint32_t cost;	    /* of the shortest way now, with detours (repair_lid.c) */
	uint8_t nominal;    /* port, where that is known to be another one (repair_back.c) */
	bool idle;	    /* no packets come through, nor start here */
};

/* A port of it, by what is better: fewer links, its place in the order of preference, its
 * load. */
struct repair_port {
	uint32_t channel; /* FM_NONE: none */
	uint32_t depth, load;
	unsigned place; /* 0: nominal, 1: as it is, 2: another */
};

/* What the ends of a switch sent to a LID by another SL than now. */
struct repair_sl {
	fm_sw sw;
	uint16_t lid;
	uint8_t sl;
};

/* A switch that no packets come through, and what it sends to. */
struct repair_idle {
	fm_sw sw;
	uint32_t parent; /* index; the first has none */
	uint8_t was;	 /* its port */
	bool is_spot;	 /* it is among the spots */
};

/* Who sends the LID into a switch: gathered once per switch and try. */
struct repair_comers {
	uint32_t in[256];  /* channels */
	uint16_t vls[256]; /* of each; 0: no packets, it is a switch between others */
	unsigned n;
	uint16_t own, all;
	bool through; /* packets of others come in, too */
};

/* What the ends of a switch send to a LID goes another number of links. */
struct repair_shift {
	uint16_t lid;
	fm_sw sw;
	uint32_t from, to;
};

/* One event. */
struct repair {
	struct router *r;
	struct keeping *k;
	struct repair_state *st;
	struct fm_tables *t;	     /* being changed */
	const struct fm_fabric *fab; /* now */
	struct depend *g;
	uint64_t *lost;	    /* [n_channels] bits: no cable now */
	fm_sw *go;	    /* [n_channels] where it leads now; FM_NONE: no cable, or it is lost */
	uint64_t *was_lost; /* likewise in the plan before; the state's */
	uint8_t *sends;	    /* [n_switches] some end there sends */
	uint32_t *load;	    /* [n_channels] LIDs that leave by it, by now */
	uint8_t *owns;	    /* [n_switches] of which load is right in a shard; NULL: of all */
	uint32_t detour;    /* links that a way may be longer to need no new dependencies */
	/* Where VLs go by ports: to be asked what packets to a LID depend on, by the tables as
	 * they are being changed.  NULL: they go by SLs alone */
	struct deps *deps;
	uint32_t *carries; /* [n_switches] number of the LID of which packets come by */
	bool same_ends;	   /* as those that the state knows */
	bool all_switches; /* every switch had a way to every switch: so it shall be again */
	/* of the LID at hand */
	uint16_t lid;
	uint8_t *column;     /* [n_switches] their ports, as in t */
	uint8_t *own_column; /* [n_switches] room, where there are no columns */
	fm_sw to;
	bool to_switch;	 /* it is one of a switch: ways of switches that send nothing count */
	uint32_t *mark;	 /* [n_switches] number << 3 | enum repair_mark */
	uint32_t number; /* of the LID, so that marks need no clearing */
	FM_VEC(struct repair_spot) spots;
	uint32_t *spot_of; /* [n_switches] of those that are MARK_LOST */
	/* [n_switches] number << 8 | links, where known: of the way on from here; of one whose
	 * turns are held, from its first channel on (repair_way.c); of the way before */
	uint32_t *arrives, *held, *was;
	uint32_t
	    *nominal; /* [n_switches] number << 8 | port, where that is another (repair_back.c) */
	/* [n_switches] the stamp, where what goes on from here does not arrive; the stamp changes
	 * with each entry, and with each mark but MARK_LOST */
	uint32_t *fails, stamp;
	struct repair_cover *cover;	/* [n_switches] */
	uint32_t *cover_list;		/* [n_channels] */
	uint16_t *seen;			/* [n_switches] room */
	FM_VEC(struct plan_entry) dev;	/* deviations of the LID, by switch */
	bool in_shard;			/* others choose at the same time: nothing is inserted */
	bool postponed;			/* it needs a new dependency, or may */
	FM_VEC(struct plan_entry) undo; /* in a shard: what its entries were, one after another */
	FM_VEC(struct repair_item) stack;
	FM_VEC(struct repair_idle) idle;
	FM_VEC(uint32_t) banned; /* channels that closed a cycle */
	/* pairs may get other SLs, from least_sl on; VLs are those of the SLs */
	bool may_move;
	uint8_t least_sl;
	FM_VEC(struct repair_sl) moved;
	/* results */
	FM_VEC(struct plan_entry) delta;
	FM_VEC(struct plan_entry) deviations; /* of all LIDs so far */
	FM_VEC(struct repair_shift) shifts;
	uint8_t *dirty; /* [top_lid + 1] 1 = lengths or reachability may differ */
	bool hopeless;	/* some pair has no path any more */
	bool out_of_memory;
	uint32_t n_refused; /* LIDs that could not go back */
};

struct repair_event {
	FM_VEC(struct repair_item) items; /* entries that may lead nowhere */
	uint32_t *first;		  /* [n_lids + 1] into sorted */
	fm_sw *sorted;			  /* [items.n] switches by LID */
	uint32_t n_lids;
	bool anything_back;
	bool counted;	   /* the loads are of the ends there are now */
	uint8_t *is_fresh; /* [n_lids] the LID had no owner at the event before */
	bool has_fresh;
	uint64_t *concerns;		      /* [n_lids] bits: LIDs that may be touched */
	FM_VEC(fm_sw) senders;		      /* switches from which nobody sent then */
	FM_VEC(struct plan_entry) deviations; /* to begin with, by LID and switch */
};

/* Is there an end behind a switch that has the LID? */
static inline bool
repair_is_owned(const struct fm_fabric *fab, uint32_t lid)
{
	return fab->lid_end[lid] != FM_NONE && fab->end_sw[fab->lid_end[lid]] != FM_NONE;
}

static inline bool
has_mark(const struct repair *p, fm_sw sw, enum repair_mark mark)
{
	return p->mark[sw] == (p->number << 3 | mark);
}

static inline void
set_mark(struct repair *p, fm_sw sw, enum repair_mark mark)
{
	p->mark[sw] = p->number << 3 | mark;
	p->stamp += mark != MARK_LOST;
}

/* The loads of a switch are going to be looked at, or changed. */
static inline void
repair_own_loads(struct repair *p, fm_sw sw)
{
	uint32_t first = p->g->first[sw], n = p->g->first[sw + 1] - first;

	if (p->owns == NULL || p->owns[sw])
		return;
	memcpy(p->load + first, p->st->load + first, n * sizeof(*p->load));
	p->owns[sw] = 1;
}

/* Marks of the LID, or of the step, before count no longer. */
static inline void
repair_new_marks(struct repair *p)
{
	p->number++;
	p->stamp++;
}

/* Are these tables such that it can be known what packets depend on?  In regions that are
 * joined by VLs that go by ports it is theirs to say which gateway is whose. */
static inline bool
repair_serves(const struct plan *p)
{
	return depend_applies(&p->tables->t) &&
	    (p->regions == NULL || p->regions->n <= 1 || !depend_by_ports(&p->tables->t));
}

/* The channel by which sw sends the LID on, FM_NONE when there is no cable. */
static inline uint32_t
repair_egress(const struct repair *p, fm_sw sw)
{
	uint32_t c = depend_channel(p->g, sw, p->column[sw]);

	return c == FM_NONE || p->g->back[c] == FM_NONE ? FM_NONE : c;
}

/* The channel by which the switch behind channel c sends the LID here, over a cable that is
 * there; FM_NONE: it does not. */
static inline uint32_t
repair_sender(const struct repair *p, uint32_t c)
{
	fm_sw there = p->go[c];

	return there == FM_NONE || p->column[there] != p->g->back_port[c] ? FM_NONE : p->g->back[c];
}

/* The entry is this one from now on. */
static inline void
repair_write(struct repair *p, fm_sw sw, uint8_t port)
{
	p->t->lft[sw][p->lid] = port;
	p->column[sw] = port;
}

/* What did not go in. */
static inline void
repair_note_result(struct repair *p, enum depend_result rc)
{
	p->out_of_memory = p->out_of_memory || rc == DEPEND_NOMEM;
	p->postponed = p->postponed || rc == DEPEND_FROZEN;
}

/* There is no use in going on with this LID. */
static inline bool
repair_stops(const struct repair *p)
{
	return p->out_of_memory || p->postponed;
}

/* Does the spot wait for a way that there may be? */
static inline bool
repair_is_open(const struct repair *p, const struct repair_spot *s)
{
	const uint32_t *component = p->k->snap->sw_component;

	return has_mark(p, s->sw, MARK_LOST) && component[s->sw] == component[p->to];
}

/* Has a spot that packets need no way yet? */
static inline bool
repair_packet_is_left(const struct repair *p)
{
	for (size_t i = 0; i < p->spots.n; i++)
		if (!p->spots.item[i].idle && repair_is_open(p, &p->spots.item[i]))
			return true;
	return false;
}

/* repair.c: one LID, of which the event touches entries; dev: its deviations.  False:
 * this cannot be repaired, memory is out, or it is postponed. */
bool repair_visit_lid(
    struct repair *p, const struct repair_event *ev, const struct plan_entry *dev, size_t n_dev);

/* repair_shards.c: all LIDs.  False: this cannot be repaired, or memory is out. */
bool repair_visit_lids(struct repair *p, const struct repair_event *ev);
/* Room for p, of a graph of so many; load: of a shard, too.  False: out of memory. */
bool repair_take_room(struct repair *p, struct repair_room *room, bool load);
void repair_room_free(struct repair_room *room);

/* repair_event.c: entries that may lead nowhere, by LID.  False: out of memory. */
bool repair_find_items(struct repair *p, struct repair_event *ev);
void repair_event_fini(struct repair_event *ev);

/* repair_choice.c */
/* Channels of a switch in the order of preference: nominal, old, least loaded.
 * Equal ones by turns: from another one on for each port at which the old cable ends
 * over there, so that neighbours who lose the same switch do not all choose the same. */
struct repair_choice {
	uint32_t n, at;
	unsigned preferred; /* of them are in front */
	bool sorted;
	uint32_t c[256];
};
/* Channels to switches that are not lost themselves; held: only those that hold
 * all dependencies at this switch, in one VL. */
void repair_begin_choice(
    struct repair *p, const struct repair_spot *s, bool held, struct repair_choice *ch);
/* The first of those with `held`, FM_NONE: there is none.  The old port has to be one. */
uint32_t repair_first_covering(struct repair *p, const struct repair_spot *s);
/* The best of what is left, FM_NONE: nothing is. */
uint32_t repair_next_choice(const struct repair *p, struct repair_choice *ch);
/* One VL: are all turns into channel old held into c as well, whoever takes them? */
bool repair_covers(const struct depend *g, uint32_t old, uint32_t c);
static inline bool
repair_may_go(const struct repair *p, uint32_t c)
{
	return p->go[c] != FM_NONE && !has_mark(p, p->go[c], MARK_LOST);
}

/* Unless it is seen at once, as often: the way by channel c comes to a switch that is lost, or
 * has no cable to go on by. */
static inline bool
repair_may_arrive(const struct repair *p, uint32_t c)
{
	fm_sw there = p->go[c];
	uint32_t next;

	if (there == FM_NONE || has_mark(p, there, MARK_LOST) || p->fails[there] == p->stamp)
		return false;
	if (there == p->to)
		return true;
	next = depend_channel(p->g, there, p->column[there]);
	return next != FM_NONE && p->go[next] != FM_NONE && !has_mark(p, p->go[next], MARK_LOST);
}

/* repair_lid.c: has channel c closed a cycle for the spot in hand? */
bool repair_is_banned(const struct repair *p, uint32_t c);
/* Spots by the length of their old way, then by switch. */
void repair_sort_spots(struct repair *p);
/* repair_lid.c: settle p->spots, which lead nowhere and are marked MARK_LOST. */
void repair_lid(struct repair *p);
/* Who sends into a spot. */
void repair_gather(struct repair *p, const struct repair_spot *s, struct repair_comers *who);
/* Insert what they need to leave by channel c.  False: undone. */
bool repair_try_insert(struct repair *p, const struct repair_comers *who, uint32_t c);
/* repair_ports.c: the same where VLs go by ports. */
void repair_lid_by_ports(struct repair *p);
/* Of all that is left, or of all that packets need, the one with the shortest way is given to
 * `take`.  False: there is none. */
typedef void repair_take_fn(
    struct repair *p, const struct repair_spot *s, const struct repair_port *best);
bool repair_settle_shortest(struct repair *p, bool idle, repair_take_fn *take);
/* repair_move.c: can pairs get other SLs than by the plan before?  *n_vls: in so many VLs. */
bool repair_may_move(
    const struct router *r, const struct plan *prev, const struct fm_fabric *now, uint32_t *n_vls);
/* False: not by these tables after all. */
bool repair_begin_moves(struct repair *p);
/* Settle those of p->spots that packets need under other SLs.  False: there is no room. */
bool repair_move(struct repair *p);
/* repair_idle.c: those of p->spots that are idle and still have no way. */
void repair_idle(struct repair *p);
/* One of p->spots that packets need gets a way from those behind it.  False: none does. */
bool repair_lend(struct repair *p);

/* repair_way.c */
struct way {
	uint32_t depth; /* links */
	bool held;	/* all its dependencies are */
};
/* The way by channel c, of at most limit links; held: give up at a dependency that is not. */
struct way repair_follow(
    const struct repair *p, uint32_t c, uint16_t vls, uint32_t limit, bool held);
bool repair_holds_all(const struct depend *g, uint32_t in, uint32_t out, uint16_t vls);
/* VLs of what the ends of sw send to the LID. */
uint16_t repair_own_vls(const struct repair *p, fm_sw sw);
/* Is there an edge in any VL from this in-port to the channel? */
bool repair_comes_from(const struct depend *g, uint32_t channel, unsigned in_port);
/* VLs that come into sw by channel `in` (a bit mask), when the LID goes that way. */
uint16_t repair_vls_from(struct repair *p, uint32_t in);
/* Insert what packets of these VLs that leave by channel c depend on, down to the LID. */
enum depend_result repair_insert_way(struct repair *p, uint32_t c, uint16_t vls);
/* Insert all that packets to the LID depend on, from the ends of `from` (FM_NONE: of all). */
enum depend_result repair_insert_lid(struct repair *p, fm_sw from);
/* One VL: is the way by channel c so long, and are all its dependencies held? */
bool repair_way_is_held(const struct repair *p, uint32_t c, uint32_t depth);
/* Write an entry, with all that is counted of it. */
void repair_set(struct repair *p, fm_sw sw, uint8_t port);
/* Of the LID at hand: all that p->undo says. */
void repair_take_back(struct repair *p);
/* Links from sw to the LID over cables that are there, REPAIR_FAR when it does not arrive. */
uint32_t repair_depth(const struct repair *p, fm_sw sw);
/* The same of a LID that is not at hand, to a switch, for who asks LID after LID. */
uint32_t repair_depth_of(const struct repair *p, fm_sw sw, uint32_t lid, fm_sw to);
/* The same over those that are lost, too. */
uint32_t repair_old_depth(const struct repair *p, fm_sw sw);
/* As repair_depth(), for who asks of many switches before any entry of the LID changes. */
uint32_t repair_links(const struct repair *p, fm_sw sw);

/* repair_columns.c; NULL: out of memory. */
struct repair_columns *repair_columns_make(
    const struct fm_fabric *fab, const struct fm_tables *t, struct fm_pool *workers);
void repair_columns_free(struct repair_columns *c); /* NULL is fine */
/* p->column is that of the LID at hand. */
void repair_take_column(struct repair *p);
/* It will be soon. */
void repair_fetch_column(const struct repair *p, uint32_t lid);

/* repair_back.c: send entries in p->dev back where that leads on. */
void repair_back(struct repair *p);
uint8_t repair_nominal(const struct repair *p, fm_sw sw);

/* repair_state.c: bits of channels that a graph lacks, malloced; NULL: out of memory. */
uint64_t *repair_lost_bits(const struct depend *g, const struct graph_diff *diff);
/* The same before there are any dependencies. */
uint64_t *repair_lost_of(const struct fm_fabric *graph, const struct graph_diff *diff);
/* The state of prev in r, made if need be; with diff anew, without the dependencies
 * of what that says is lost.  n_vls: with room for so many, 0: as the tables have.
 * FM_E_RESOURCE. */
int repair_state_for(struct router *r, const struct plan *prev, const struct graph_diff *diff,
    uint32_t n_vls, struct fm_error *err);
/* Tables equal to st->tables, to be changed: one reference. */
int repair_take_spare(struct router *r, struct repair_state *st, const struct fm_fabric *fab,
    struct tables **out, struct fm_error *err);
/* Whom the tables serve from now on.  False: out of memory. */
bool repair_note_served(struct repair_state *st, const struct fm_fabric *ends);
bool repair_count_loads(struct repair_state *st, const struct fm_fabric *fab,
    const struct fm_tables *t, struct fm_pool *workers);

/* repair_verdict.c */
bool repair_sums_apply(const struct snapshot *snap, const struct fm_tables *t);
int repair_sums_build(struct repair_state *st, struct snapshot *snap, const struct fm_tables *t,
    const uint64_t *lost, struct fm_pool *workers, struct fm_error *err);
/* The verdict of p's plan, by its dirty LIDs.  False: it has to be judged as a whole. */
int repair_judge(struct repair *p, bool *judged, struct fm_error *err);

#endif
