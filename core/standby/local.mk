# SPDX-License-Identifier: BSD-2-Clause
# core/standby/: the copy that a standby has of what outlives the master.
CORE_SOURCES += \
	core/standby/beside.h \
	core/standby/copies.c \
	core/standby/copies.h \
	core/standby/copying.c \
	core/standby/copying.h \
	core/standby/diff.c \
	core/standby/diff.h \
	core/standby/giving.c \
	core/standby/giving.h \
	core/standby/internal.h \
	core/standby/link.c \
	core/standby/link.h \
	core/standby/mirror.c \
	core/standby/mirror.h \
	core/standby/sides.c \
	core/standby/taking.c
