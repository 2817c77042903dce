# SPDX-License-Identifier: BSD-2-Clause
# core/sweep/: discovery, inventory, apply, traps.
CORE_SOURCES += \
	core/sweep/aliases.c \
	core/sweep/apply.c core/sweep/apply_internal.h core/sweep/apply_known.c core/sweep/apply_order.c \
	core/sweep/apply_wait.c \
	core/sweep/arrive.c \
	core/sweep/ask.c \
	core/sweep/ask.h \
	core/sweep/discover.c \
	core/sweep/fields.c core/sweep/fields.h \
	core/sweep/heard.c core/sweep/heard.h \
	core/sweep/internal.h \
	core/sweep/inventory.c core/sweep/inventory.h \
	core/sweep/lid_route.c \
	core/sweep/light.c \
	core/sweep/links.c \
	core/sweep/mcast.c \
	core/sweep/mkeys.c \
	core/sweep/model.c \
	core/sweep/other_sms.c \
	core/sweep/sm_ask_back.c \
	core/sweep/sm_control.c \
	core/sweep/sm_wait.c \
	core/sweep/owed.c \
	core/sweep/pkeys.c \
	core/sweep/program.c \
	core/sweep/qos.c \
	core/sweep/repath.c \
	core/sweep/observe.c \
	core/sweep/observe.h \
	core/sweep/reread.c \
	core/sweep/routing.c \
	core/sweep/say.c core/sweep/say.h \
	core/sweep/settings.c \
	core/sweep/sweep.c core/sweep/sweep.h core/sweep/sweeper.h \
	core/sweep/traps.c core/sweep/traps.h \
	core/sweep/todo.c \
	core/sweep/todo_say.c \
	core/sweep/todo.h \
	core/sweep/waves.c
