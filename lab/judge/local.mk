# SPDX-License-Identifier: BSD-2-Clause
# lab/judge/: engines and tables compared: eBB, shifts, properties, what an outage changes.
LAB_SOURCES += \
	lab/judge/compare.c \
	lab/judge/compare.h \
	lab/judge/compare_internal.h \
	lab/judge/compare_pairs.c \
	lab/judge/metrics.c \
	lab/judge/metrics.h \
	lab/judge/metrics_internal.h \
	lab/judge/metrics_lids.c \
	lab/judge/metrics_shift.c \
	lab/judge/props.c \
	lab/judge/props.h \
	lab/judge/props_internal.h \
	lab/judge/props_rows.c \
	lab/judge/props_run.c
