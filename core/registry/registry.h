/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/registry/registry.h - what hosts have registered with the SA.
 *
 *	groups.h		multicast groups and members
 *	services		ServiceRecords with leases, IBA 15.2.5.14
 *	subscriptions		InformInfo, IBA 13.4.8.3, and to whom reports go
 *	alias GUIDs		GUIDInfoRecords, IBA 15.2.5.18, in 8 GUIDs a block
 *
 * Owned by whoever runs the SA; no threads, no MADs, the clock is a parameter.  Each client
 * may hold so much and no more.  All of it outlives the process: registry_save() writes
 * what has changed in one transaction, registry_load() brings it back; a record that is
 * damaged is set aside with a warning.  A commit waits for the disk, so whoever answers
 * requests collects a batch and has it written by another thread (saver.h).
 */
#ifndef CORE_REGISTRY_REGISTRY_H
#define CORE_REGISTRY_REGISTRY_H

#include "core/mad/transport.h"
#include "core/registry/groups.h"
#include "core/store/store.h"

#define REGISTRY_BLOCKS 32 /* of alias GUIDs a port may have: GUIDCap is a byte */

struct registry_settings {
	struct groups_settings groups;
	uint32_t max_services, max_subscriptions; /* of one client */
	uint32_t max_services_all, max_subscriptions_all;
	bool drop_subscriptions; /* of a port as soon as it is gone */
};
void registry_settings_default(struct registry_settings *s);

struct registry;
struct registry *registry_new(const struct registry_settings *s); /* NULL: no memory */
void registry_free(struct registry *r);				  /* NULL is fine */
/* It is as new: what is in the store stays there, and nobody is told.  False: out of memory. */
bool registry_clear(struct registry *r);
void registry_configure(struct registry *r, const struct registry_settings *s);
struct groups *registry_groups(struct registry *r);

/* wall_s: seconds since 1970, for leases. */
int registry_load(
    struct registry *r, struct store *s, int64_t now_ms, int64_t wall_s, struct fm_error *err);
/* What has changed since; nothing is written when nothing has. */
int registry_save(
    struct registry *r, struct store *s, int64_t now_ms, int64_t wall_s, struct fm_error *err);
/* The same in two steps.  *out: what has changed since, to be written; NULL: nothing has. */
struct registry_batch;
int registry_collect(struct registry *r, int64_t now_ms, int64_t wall_s,
    struct registry_batch **out, struct fm_error *err);
/* Everything, for who has nothing of it yet; what is to be written stays so. */
int registry_copy(struct registry *r, int64_t now_ms, int64_t wall_s, struct registry_batch **out,
    struct fm_error *err);
/* Its records in order, malloced, with keys and values of the batch; value NULL: is taken out.
 * anew: there are no others.  NULL: out of memory. */
struct store_record *registry_batch_records(
    const struct registry_batch *b, uint32_t *n, bool *anew);
/* What next has comes behind that of b; next is freed.  False: out of memory, both are as they
 * were. */
bool registry_batch_join(struct registry_batch *b, struct registry_batch *next);
/* Has it the form of a record that a registry has put into a store? */
bool registry_is_record(const struct store_record *r);
/* Any thread; nothing of the registry is looked at. */
int registry_batch_put(const struct registry_batch *b, struct store *s, struct fm_error *err);
void registry_batch_free(struct registry_batch *b); /* NULL is fine */
/* A batch was not written: the next one is everything. */
void registry_not_kept(struct registry *r);
bool registry_is_dirty(struct registry *r); /* something is to be collected */
/* Something was lost in a load: clients are to be asked to register again. */
bool registry_lacks(const struct registry *r);

/* What has happened to groups, for fabric and subscribers: GROUP_MEMBER, GROUP_BORN,
 * GROUP_DEAD.  False: nothing more.  *lost: events are missing, look at everything. */
bool registry_next_event(struct registry *r, struct group_event *e, bool *lost);

/* A port is not there now; it may come back. */
void registry_port_is_away(struct registry *r, uint64_t port);
/* A port has left the subnet, with what it holds; its services end with their leases. */
void registry_drop_port(struct registry *r, uint64_t port);
/* Ports that have lost what they held so: to register again, should they come back. */
bool registry_next_lost(struct registry *r, uint64_t *port);
/* Leases that are over.  When the next is; INT64_MAX. */
int64_t registry_tick(struct registry *r, int64_t now_ms);

/* ---- services; all requests: an SA status */
/* client: port GUID of who asks; trusted: may change what is another's. */
uint16_t registry_set_service(struct registry *r, const struct sa_service_record *want,
    uint64_t mask, uint64_t client, bool trusted, int64_t now_ms, struct sa_service_record *got);
uint16_t registry_delete_service(struct registry *r, const struct sa_service_record *want,
    uint64_t mask, uint64_t client, bool trusted, int64_t now_ms, struct sa_service_record *got);
uint32_t registry_n_services(const struct registry *r);
/* Number i, any order; lease_s is what is left of it. */
struct sa_service_record registry_service(const struct registry *r, uint32_t i, int64_t now_ms);

/* ---- subscriptions */
struct subscription {
	uint32_t id;	 /* never used twice */
	uint16_t number; /* InformInfoRecord.Enum, of this subscriber */
	uint64_t client; /* port GUID */
	struct sa_gid gid;
	struct sa_inform_info info;
	struct mad_addr to; /* of reports */
	uint64_t told;	    /* number of the last event (notices.h) */
	int64_t heard_ms;   /* of its Reports: the last answer; 0: none */
};
/* By info->subscribe.  number: of the subscription made or ended. */
uint16_t registry_inform(struct registry *r, const struct sa_inform_info *info, uint64_t client,
    struct sa_gid gid, const struct mad_addr *from);
uint32_t registry_n_subscriptions(const struct registry *r);
const struct subscription *registry_subscription(const struct registry *r, uint32_t i);
/* The i-th is told of an event; numbers ascend.  False: it has been. */
bool registry_note_told(struct registry *r, uint32_t i, uint64_t event);
/* A Report of it is answered.  When that was the last time; 0: it has not been, or is gone. */
void registry_note_heard(struct registry *r, uint32_t id, int64_t now_ms);
int64_t registry_heard(const struct registry *r, uint32_t id);
/* Its subscriber does not answer any more. */
void registry_drop_subscription(struct registry *r, uint32_t id);

/* ---- alias GUIDs */
/* The wanted entries of a block (bit i: entry i) become these; guid[i] 0: the SA makes one,
 * told in guid[i].  SA_REQ_INVALID: entry 0 of block 0, or a GUID that somebody has. */
uint16_t registry_set_aliases(
    struct registry *r, uint64_t port, uint8_t block, unsigned which, uint64_t guid[8]);
uint16_t registry_delete_aliases(struct registry *r, uint64_t port, uint8_t block, unsigned which);
/* false: the block is empty; guid[8] all the same. */
bool registry_aliases(const struct registry *r, uint64_t port, uint8_t block, uint64_t guid[8]);
/* The port that an alias stands for, 0: no alias. */
uint64_t registry_alias_port(const struct registry *r, uint64_t guid);
/* All blocks that are not empty, in any order. */
uint32_t registry_n_alias_blocks(const struct registry *r);
void registry_alias_block(const struct registry *r, uint32_t i, uint64_t *port, uint8_t *block);
/* Blocks that changed, or were loaded, to be set in the ports (GUIDInfo): false when there
 * is none. */
bool registry_next_alias_block(struct registry *r, uint64_t *port, uint8_t *block);

#endif
