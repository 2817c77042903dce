# SPDX-License-Identifier: BSD-2-Clause
# core/verify/: tables judged: who reaches whom, loops, credit loops.
CORE_SOURCES += \
	core/verify/promise.c \
	core/verify/promise.h \
	core/verify/verify.c \
	core/verify/verify.h \
	core/verify/verify_adaptive.c \
	core/verify/verify_adaptive.h \
	core/verify/verify_adaptive_deps.c \
	core/verify/verify_class.c \
	core/verify/verify_class.h \
	core/verify/verify_class_choices.c \
	core/verify/verify_class_deps.c \
	core/verify/verify_class_hops.c \
	core/verify/verify_class_lanes.c \
	core/verify/verify_class_masks.c \
	core/verify/verify_class_runs.c \
	core/verify/verify_class_single.c \
	core/verify/verify_cycles.c \
	core/verify/verify_internal.h \
	core/verify/verify_vl.c \
	core/verify/verify_vl_class.c \
	core/verify/verify_vl_class.h \
	core/verify/verify_vl_state.c \
	core/verify/verify_walk.c \
	core/verify/verify_way.c \
	core/verify/verify_words.c
