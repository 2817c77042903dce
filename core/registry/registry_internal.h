/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/registry/registry_internal.h - what the parts of the registry share.
 *
 *	registry.c	 life, leases, who has left	services.c
 *	registry_store.c to the store and back		subscriptions.c  aliases.c
 *	registry_notes.c what is to be written	claims.c
 */
#ifndef CORE_REGISTRY_REGISTRY_INTERNAL_H
#define CORE_REGISTRY_REGISTRY_INTERNAL_H

#include "core/registry/registry.h"
#include "lib/hash.h"
#include "lib/vec.h"

#define FOR_EVER INT64_MAX

struct service {
	struct sa_service_record rec;
	uint64_t client;
	int64_t ends_ms; /* FOR_EVER */
};

struct alias_block {
	uint64_t port;
	uint8_t block;
	uint64_t guid[8];
};

/* Something to be written: kind and key of a record, by which it is found or seen to be gone. */
struct dirty {
	uint8_t n_key;
	uint8_t key[STORE_KEY_MAX];
};

struct registry {
	struct registry_settings set;
	struct groups *groups;
	FM_VEC(struct service) services;
	int64_t services_due_ms; /* no lease ends before */
	struct fm_hash
	    of_service; /* hash of id, GID and P_Key -> index; others of it are searched */
	FM_VEC(struct subscription) subscriptions;
	struct fm_hash of_subscription; /* id -> index */
	uint32_t last_subscription;
	FM_VEC(struct alias_block) aliases;
	struct fm_hash of_block;	       /* port and block -> index */
	struct fm_hash of_alias;	       /* alias GUID -> index of its block */
	FM_VEC(struct alias_block) alias_news; /* guid unused; each block once */
	struct fm_hash of_alias_news;	       /* port and block, not taken yet */
	size_t n_alias_taken;
	FM_VEC(uint64_t) lost; /* ports */
	FM_VEC(struct group_event) news;
	size_t n_news_taken;
	bool news_lost;
	FM_VEC(struct dirty) dirty;
	bool all_dirty; /* dirt was lost: everything is to be written */
	bool lacks;
	bool claims_are_told; /* claims.h: the list is what it was */
};

/* registry_notes.c: to be written, or taken out, with the next save. */
void registry_note_group(struct registry *r, struct sa_gid mgid, uint64_t port);
void registry_note_service(struct registry *r, const struct sa_service_record *rec);
void registry_note_subscription(struct registry *r, uint32_t id);
void registry_note_alias(struct registry *r, uint64_t port, uint8_t block);
/* What groups have to say, sorted into news and dirt. */
void registry_pull(struct registry *r);
struct dirty registry_service_key(const struct sa_service_record *rec);

/* services.c */
struct service *services_find(const struct registry *r, const struct sa_service_record *rec);
bool services_add(struct registry *r, const struct service *s);
void services_expire(struct registry *r, int64_t now_ms);
void services_remove(struct registry *r, struct service *s);
/* subscriptions.c */
bool subscriptions_add(struct registry *r, const struct subscription *s);
void subscriptions_remove(struct registry *r, uint32_t i);
/* aliases.c */
struct alias_block *aliases_find(const struct registry *r, uint64_t port, uint8_t block);
bool aliases_add(struct registry *r, const struct alias_block *b);
/* The block is to be set in its port. */
void aliases_tell(struct registry *r, uint64_t port, uint8_t block);
bool aliases_drop_port(struct registry *r, uint64_t port);

#endif
