# SPDX-License-Identifier: BSD-2-Clause
# core/transition/: from old tables to new ones: what may be written, and in which order.
CORE_SOURCES += \
	core/transition/graft.c \
	core/transition/graft.h \
	core/transition/ladder.c \
	core/transition/ladder.h \
	core/transition/ladder_anew.c \
	core/transition/ladder_counts.c \
	core/transition/ladder_internal.h \
	core/transition/ladder_local.c \
	core/transition/ladder_rest.c \
	core/transition/ladder_resume.c \
	core/transition/ladder_steps.c \
	core/transition/transition.c \
	core/transition/transition.h \
	core/transition/transition_admit.c \
	core/transition/transition_internal.h \
	core/transition/transition_plan.c \
	core/transition/transition_send.c
