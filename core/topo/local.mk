# SPDX-License-Identifier: BSD-2-Clause
# core/topo/: fabric files, generators, faults, table dumps.
CORE_SOURCES += core/topo/netlist.h core/topo/netlist.c core/topo/netlist_snapshot.c \
	core/topo/netlist_parse.h core/topo/netlist_read.c core/topo/netlist_join.c \
	core/topo/netlist_write.c core/topo/netlist_fail.c core/topo/netlist_shuffle.c \
	core/topo/link_speed.h core/topo/link_speed.c core/topo/dump.h core/topo/dump.c \
	core/topo/generate.h core/topo/generate.c core/topo/generate_tree.c \
	core/topo/generate_grid.c core/topo/generate_group.c core/topo/generate_join.c core/topo/generate_random.c
CORE_SOURCES += core/topo/outage.c core/topo/outage.h
