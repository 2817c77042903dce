# SPDX-License-Identifier: BSD-2-Clause
# core/mcast/: multicast trees, the groups on them, in which order they are written.
CORE_SOURCES += \
	core/mcast/mcast.h \
	core/mcast/mcast_check.c \
	core/mcast/mcast_internal.h \
	core/mcast/mcast_make.c \
	core/mcast/mcast_net.c \
	core/mcast/mcast_net.h \
	core/mcast/mcast_trees.c \
	core/mcast/mcast_turns.c \
	core/mcast/mcast_write.c \
	core/mcast/mcast_write.h \
	core/mcast/mft_rows.c \
	core/mcast/mft_rows.h
