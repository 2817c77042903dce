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
	plugins/common/sssp/sssp.c \
	plugins/common/sssp/sssp.h \
	plugins/common/sssp/sssp_batched.c \
	plugins/common/sssp/sssp_greedy.c \
	plugins/common/sssp/sssp_internal.h \
	plugins/common/sssp/sssp_legal.c \
	plugins/common/sssp/sssp_tables.c \
	plugins/common/sssp/swarm.c \
	plugins/common/sssp/swarm.h
nobase_fmalgo_HEADERS += \
	plugins/common/sssp/apart.h \
	plugins/common/sssp/balance.h \
	plugins/common/sssp/choice_options.h \
	plugins/common/sssp/counts.h \
	plugins/common/sssp/estimate.h \
	plugins/common/sssp/even.h \
	plugins/common/sssp/sssp.h \
	plugins/common/sssp/swarm.h
