# SPDX-License-Identifier: BSD-2-Clause
# core/route/: keep, repair, or route anew: plan_make(); the thread that does it.
CORE_SOURCES += \
	core/route/entry.c \
	core/route/entry.h \
	core/route/rivals.c \
	core/route/rivals.h \
	core/route/route.c \
	core/route/route.h \
	core/route/trial.c \
	core/route/trial.h \
	core/route/weigh.c \
	core/route/weigh.h \
	core/route/weighing.c \
	core/route/weighing.h \
	core/route/worker.c \
	core/route/worker.h
