# SPDX-License-Identifier: BSD-2-Clause
# core/server/: the SA's thread: its umad agent, whose turn it is, what a client may use.
CORE_SOURCES += \
	core/server/server.c \
	core/server/server.h \
	core/server/share.c \
	core/server/share.h \
	core/server/turns.c \
	core/server/turns.h
