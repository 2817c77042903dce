# SPDX-License-Identifier: BSD-2-Clause
# plugins/common/paths/: the switch graph, orders of the switches, the right next steps; adaptive groups of them.
COMMON_SOURCES += \
	plugins/common/paths/alternatives.c \
	plugins/common/paths/alternatives.h \
	plugins/common/paths/arcs.c \
	plugins/common/paths/arcs.h \
	plugins/common/paths/base_lids.c \
	plugins/common/paths/base_lids.h \
	plugins/common/paths/cardinality.c \
	plugins/common/paths/cardinality.h \
	plugins/common/paths/lids.c \
	plugins/common/paths/lids.h \
	plugins/common/paths/order.c \
	plugins/common/paths/order.h \
	plugins/common/paths/reach.c \
	plugins/common/paths/reach.h \
	plugins/common/paths/steps.c \
	plugins/common/paths/steps.h
nobase_fmalgo_HEADERS += \
	plugins/common/paths/alternatives.h \
	plugins/common/paths/arcs.h \
	plugins/common/paths/base_lids.h \
	plugins/common/paths/cardinality.h \
	plugins/common/paths/lids.h \
	plugins/common/paths/order.h \
	plugins/common/paths/reach.h \
	plugins/common/paths/steps.h
