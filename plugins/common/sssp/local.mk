# SPDX-License-Identifier: BSD-2-Clause
# plugins/common/sssp/: next steps chosen by load: grown one by one or in batches, made even, counted.
COMMON_SOURCES += \
	plugins/common/sssp/apart.c \
	plugins/common/sssp/apart.h \
	plugins/common/sssp/balance.c \
	plugins/common/sssp/balance.h \
	plugins/common/sssp/choice_options.c \
	plugins/common/sssp/choice_options.h \
	plugins/common/sssp/counts.c \
	plugins/common/sssp/counts.h \
	plugins/common/sssp/estimate.c \
	plugins/common/sssp/estimate.h \
	plugins/common/sssp/even.c \
	plugins/common/sssp/even.h \
	plugins/common/sssp/forest.c \
	plugins/common/sssp/forest.h \
	plugins/common/sssp/forest_grower.h \
	plugins/common/sssp/forest_legal.c \
	plugins/common/sssp/forest_tables.c \
	plugins/common/sssp/grow.c \
	plugins/common/sssp/grow.h \
	plugins/common/sssp/swarm.c \
	plugins/common/sssp/swarm.h
nobase_fmalgo_HEADERS += \
	plugins/common/sssp/apart.h \
	plugins/common/sssp/balance.h \
	plugins/common/sssp/choice_options.h \
	plugins/common/sssp/counts.h \
	plugins/common/sssp/estimate.h \
	plugins/common/sssp/even.h \
	plugins/common/sssp/forest.h \
	plugins/common/sssp/grow.h \
	plugins/common/sssp/swarm.h
