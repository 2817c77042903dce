# SPDX-License-Identifier: BSD-2-Clause
# core/program/: what is written: fields of ports and switches, tables, keys, groups.
CORE_SOURCES += \
	core/program/aliases.c \
	core/program/apply.c \
	core/program/apply_internal.h \
	core/program/apply_known.c \
	core/program/apply_order.c \
	core/program/apply_wait.c \
	core/program/forced.c \
	core/program/internal.h \
	core/program/links.c \
	core/program/looks.c \
	core/program/looks.h \
	core/program/mcast.c \
	core/program/mkeys.c \
	core/program/name_us.c \
	core/program/owed.c \
	core/program/pkeys.c \
	core/program/program.c \
	core/program/program.h \
	core/program/qos.c \
	core/program/repath.c \
	core/program/waves.c
