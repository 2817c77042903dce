# SPDX-License-Identifier: BSD-2-Clause
# plugins/common/sssp/: SSSP, greedy and in batches; local search; the choice by two counts.
COMMON_SOURCES += \
	plugins/common/sssp/balance.c \
	plugins/common/sssp/balance.h \
	plugins/common/sssp/choice_options.c \
	plugins/common/sssp/choice_options.h \
	plugins/common/sssp/counts.c \
	plugins/common/sssp/counts.h \
	plugins/common/sssp/divergence.c \
	plugins/common/sssp/divergence.h \
	plugins/common/sssp/estimate.c \
	plugins/common/sssp/estimate.h \
	plugins/common/sssp/legal_paths.c \
	plugins/common/sssp/legal_paths.h \
	plugins/common/sssp/local_search.c \
	plugins/common/sssp/local_search.h \
	plugins/common/sssp/sssp.c \
	plugins/common/sssp/sssp.h \
	plugins/common/sssp/sssp_batched.c \
	plugins/common/sssp/sssp_greedy.c \
	plugins/common/sssp/sssp_internal.h \
	plugins/common/sssp/sssp_legal.c \
	plugins/common/sssp/sssp_rounds.c \
	plugins/common/sssp/sssp_tables.c
nobase_fmalgo_HEADERS += \
	plugins/common/sssp/balance.h \
	plugins/common/sssp/choice_options.h \
	plugins/common/sssp/counts.h \
	plugins/common/sssp/divergence.h \
	plugins/common/sssp/estimate.h \
	plugins/common/sssp/legal_paths.h \
	plugins/common/sssp/local_search.h \
	plugins/common/sssp/sssp.h
