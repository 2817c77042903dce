# SPDX-License-Identifier: BSD-2-Clause
# core/ask/: a request to a node: its way, its answer, who waits, what is in doubt; what all rooms of a sweep share.
CORE_SOURCES += \
	core/ask/ask.c \
	core/ask/ask.h \
	core/ask/ask_pool.c \
	core/ask/doubt.c \
	core/ask/doubt.h \
	core/ask/internal.h \
	core/ask/late.c \
	core/ask/late.h \
	core/ask/lid_route.c \
	core/ask/lid_route.h \
	core/ask/lid_trial.c \
	core/ask/parts.h \
	core/ask/report.h \
	core/ask/sweeper.c \
	core/ask/sweeper.h
