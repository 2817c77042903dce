# SPDX-License-Identifier: BSD-2-Clause
# core/sa/: what the subnet administrator knows and answers.
CORE_SOURCES += \
	core/sa/aliases.c \
	core/sa/answer.c \
	core/sa/groups.c \
	core/sa/groups.h \
	core/sa/groups_internal.h \
	core/sa/groups_mlid.c \
	core/sa/groups_rules.c \
	core/sa/guidinfo.c \
	core/sa/held.c \
	core/sa/held.h \
	core/sa/inform.c \
	core/sa/kept.c core/sa/kept.h core/sa/kept_file.c \
	core/sa/mcmember.c \
	core/sa/notices.c core/sa/notices.h \
	core/sa/path.c \
	core/sa/path.h \
	core/sa/path_multi.c \
	core/sa/path_pairs.c \
	core/sa/path_pairs.h \
	core/sa/path_qos.c \
	core/sa/path_qos.h \
	core/sa/path_query.c \
	core/sa/path_query.h \
	core/sa/prefix_routes.c \
	core/sa/prefix_routes.h \
	core/sa/records_link.c \
	core/sa/records_node.c \
	core/sa/registry.c \
	core/sa/registry.h \
	core/sa/registry_internal.h \
	core/sa/registry_store.c \
	core/sa/reports.c core/sa/reports.h \
	core/sa/rows.c \
	core/sa/rows.h \
	core/sa/sa.c \
	core/sa/sa.h \
	core/sa/sa_internal.h \
	core/sa/saver.c \
	core/sa/saver.h \
	core/sa/server.c \
	core/sa/server.h \
	core/sa/service.c \
	core/sa/services.c \
	core/sa/share.c \
	core/sa/share.h \
	core/sa/subscriptions.c \
	core/sa/trust.c \
	core/sa/turns.c \
	core/sa/turns.h \
	core/sa/view.c \
	core/sa/view.h \
	core/sa/view_find.c \
	core/sa/view_internal.h \
	core/sa/view_rows.c
