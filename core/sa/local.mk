# SPDX-License-Identifier: BSD-2-Clause
# core/sa/: subnet administration: a handler an attribute, paths, reports, who may ask.
CORE_SOURCES += \
	core/sa/answer.c \
	core/sa/guidinfo.c \
	core/sa/inform.c \
	core/sa/mcmember.c \
	core/sa/notices.c \
	core/sa/notices.h \
	core/sa/path.c \
	core/sa/path.h \
	core/sa/path_multi.c \
	core/sa/path_qos.c \
	core/sa/path_qos.h \
	core/sa/path_query.c \
	core/sa/path_query.h \
	core/sa/query.c \
	core/sa/records_link.c \
	core/sa/records_node.c \
	core/sa/reports.c \
	core/sa/reports.h \
	core/sa/sa.c \
	core/sa/sa.h \
	core/sa/sa_internal.h \
	core/sa/service.c \
	core/sa/trust.c
