# SPDX-License-Identifier: BSD-2-Clause
# core/transition/: from old tables to new ones: what may be written, and in which order.
CORE_SOURCES += \
	core/transition/mixtures.c \
	core/transition/mixtures.h \
	core/transition/order.c \
	core/transition/reconfig.c \
	core/transition/reconfig.h \
	core/transition/reconfig_build.c \
	core/transition/reconfig_compare.c \
	core/transition/reconfig_conflicts.c \
	core/transition/reconfig_internal.h \
	core/transition/reconfig_partition.c \
	core/transition/reconfig_resume.c \
	core/transition/stub.c \
	core/transition/transition.c \
	core/transition/transition.h \
	core/transition/transition_admit.c \
	core/transition/transition_internal.h \
	core/transition/transition_plan.c \
	core/transition/transition_send.c
