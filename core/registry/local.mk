# SPDX-License-Identifier: BSD-2-Clause
# core/registry/: what hosts have registered: groups, services, subscriptions, alias GUIDs.
CORE_SOURCES += \
	core/registry/aliases.c \
	core/registry/claims.c \
	core/registry/claims.h \
	core/registry/groups.c \
	core/registry/groups.h \
	core/registry/groups_internal.h \
	core/registry/groups_mlid.c \
	core/registry/groups_rules.c \
	core/registry/held.c \
	core/registry/held.h \
	core/registry/registry.c \
	core/registry/registry.h \
	core/registry/registry_internal.h \
	core/registry/registry_notes.c \
	core/registry/registry_store.c \
	core/registry/saver.c \
	core/registry/saver.h \
	core/registry/services.c \
	core/registry/subscriptions.c
