# SPDX-License-Identifier: BSD-2-Clause
# core/events/: what has happened: its kinds, the last ones, the file that keeps them.
CORE_SOURCES += \
	core/events/events.c \
	core/events/events.h \
	core/events/file.c \
	core/events/file.h \
	core/events/kinds.c \
	core/events/kinds.h \
	core/events/query.c \
	core/events/query.h \
	core/events/tell.c \
	core/events/tell.h
