# SPDX-License-Identifier: BSD-2-Clause
# core/sa/: what the subnet administrator knows and answers.
CORE_SOURCES += \
	core/sa/groups.c core/sa/groups.h core/sa/groups_internal.h core/sa/groups_rules.c \
	core/sa/rows.c \
	core/sa/rows.h
