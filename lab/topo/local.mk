# SPDX-License-Identifier: BSD-2-Clause
# lab/topo/: fabric files, generators, faults.
LAB_SOURCES += \
	lab/topo/generate.c \
	lab/topo/generate.h \
	lab/topo/generate_grid.c \
	lab/topo/generate_group.c \
	lab/topo/generate_parts.c \
	lab/topo/generate_random.c \
	lab/topo/generate_site.c \
	lab/topo/generate_tree.c \
	lab/topo/netlist.h \
	lab/topo/netlist_fail.c \
	lab/topo/netlist_shuffle.c \
	lab/topo/netlist_snapshot.c \
	lab/topo/outage.c \
	lab/topo/outage.h
