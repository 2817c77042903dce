# SPDX-License-Identifier: BSD-2-Clause
# core/graph/: a fabric as switches and cables (snapshot), tables on it, their differences.
CORE_SOURCES += \
	core/graph/adaptive.c \
	core/graph/adaptive.h \
	core/graph/cable_order.c \
	core/graph/cable_order.h \
	core/graph/graph_diff.c \
	core/graph/graph_diff.h \
	core/graph/link_speed.c \
	core/graph/link_speed.h \
	core/graph/mcast_tree.c \
	core/graph/mcast_tree.h \
	core/graph/snapshot.c \
	core/graph/snapshot.h \
	core/graph/snapshot_less.c \
	core/graph/switch_groups.c \
	core/graph/switch_groups.h \
	core/graph/switch_order.c \
	core/graph/switch_order.h \
	core/graph/tables.c \
	core/graph/tables.h \
	core/graph/tables_vls.c \
	core/graph/tables_vls.h
