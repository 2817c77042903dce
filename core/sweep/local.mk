# SPDX-License-Identifier: BSD-2-Clause
# core/sweep/: the road of a sweep: discovery, planning, light sweeps, traps, what is unfinished.
CORE_SOURCES += \
	core/sweep/arrive.c \
	core/sweep/arrive.h \
	core/sweep/babble.c \
	core/sweep/discover.c \
	core/sweep/internal.h \
	core/sweep/light.c \
	core/sweep/model.c \
	core/sweep/observe.c \
	core/sweep/observe.h \
	core/sweep/states.c \
	core/sweep/reread.c \
	core/sweep/routing.c \
	core/sweep/say.c \
	core/sweep/say.h \
	core/sweep/sweep.c \
	core/sweep/sweep.h \
	core/sweep/todo.c \
	core/sweep/todo.h \
	core/sweep/todo_say.c \
	core/sweep/todo_tell.c \
	core/sweep/traps.c \
	core/sweep/traps.h \
	core/sweep/wake.c \
	core/sweep/well.c \
	core/sweep/well.h
