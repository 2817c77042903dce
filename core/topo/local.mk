# SPDX-License-Identifier: BSD-2-Clause
# core/topo/: fabric files, generators, faults, table dumps.
CORE_SOURCES += core/topo/netlist.h
