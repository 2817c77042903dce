# SPDX-License-Identifier: BSD-2-Clause
# core/nodes/: who is meant: nodes by name and GUID, groups of them.
CORE_SOURCES += \
	core/nodes/groups.c \
	core/nodes/groups.h \
	core/nodes/name_map.c \
	core/nodes/name_map.h \
	core/nodes/nodes.c \
	core/nodes/nodes.h \
	core/nodes/nodes_resolve.c
