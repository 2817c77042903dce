# SPDX-License-Identifier: BSD-2-Clause
# core/verify/: tables judged: who reaches whom, loops, credit loops.
CORE_SOURCES += \
	core/verify/verify.c \
	core/verify/verify.h \
	core/verify/verify_class.c \
	core/verify/verify_class.h \
	core/verify/verify_class_deps.c \
	core/verify/verify_class_exact.c \
	core/verify/verify_class_hops.c \
	core/verify/verify_class_masks.c \
	core/verify/verify_class_runs.c \
	core/verify/verify_class_single.c \
	core/verify/verify_follow.c \
	core/verify/verify_follow.h \
	core/verify/verify_follow_deps.c \
	core/verify/verify_graph.c \
	core/verify/verify_internal.h \
	core/verify/verify_judge.c \
	core/verify/verify_path.c \
	core/verify/verify_path.h \
	core/verify/verify_path_carry.c \
	core/verify/verify_path_split.c \
	core/verify/verify_path_state.c \
	core/verify/verify_words.c
