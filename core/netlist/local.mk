# SPDX-License-Identifier: BSD-2-Clause
# core/netlist/: a fabric as a file describes it: nodes, ports, cables; its readers and writers.
CORE_SOURCES += \
	core/netlist/netlist.c \
	core/netlist/netlist.h \
	core/netlist/netlist_join.c \
	core/netlist/netlist_parse.c \
	core/netlist/netlist_parse.h \
	core/netlist/netlist_read.c \
	core/netlist/netlist_write.c \
	core/netlist/topo_read.c \
	core/netlist/topo_write.c
