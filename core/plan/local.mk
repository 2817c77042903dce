# SPDX-License-Identifier: BSD-2-Clause
# core/plan/: the plan: verified tables and what is known of them; kept tables, its file.
CORE_SOURCES += \
	core/plan/keep.c \
	core/plan/keep.h \
	core/plan/plan.c \
	core/plan/plan.h \
	core/plan/plan_absent.c \
	core/plan/plan_absent.h \
	core/plan/plan_cut.c \
	core/plan/plan_cut.h \
	core/plan/plan_file.c \
	core/plan/plan_file.h \
	core/plan/plan_file_internal.h \
	core/plan/plan_file_load.c \
	core/plan/plan_file_regions.c \
	core/plan/plan_sls.c
