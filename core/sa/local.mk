# SPDX-License-Identifier: BSD-2-Clause
# core/sa/: what the subnet administrator knows and answers.
CORE_SOURCES += \
	core/sa/aliases.c \
	core/sa/groups.c core/sa/groups.h core/sa/groups_internal.h core/sa/groups_rules.c \
	core/sa/registry.c core/sa/registry.h core/sa/registry_internal.h core/sa/registry_store.c \
	core/sa/rows.c \
	core/sa/rows.h \
	core/sa/services.c \
	core/sa/subscriptions.c
