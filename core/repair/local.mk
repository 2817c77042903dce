# SPDX-License-Identifier: BSD-2-Clause
# core/repair/: tables mended after an event, entry by entry.
CORE_SOURCES += \
	core/repair/linger.c \
	core/repair/linger.h \
	core/repair/repair.c \
	core/repair/repair.h \
	core/repair/repair_back.c \
	core/repair/repair_choice.c \
	core/repair/repair_choice.h \
	core/repair/repair_columns.c \
	core/repair/repair_complete.c \
	core/repair/repair_complete.h \
	core/repair/repair_entry.h \
	core/repair/repair_event.c \
	core/repair/repair_event.h \
	core/repair/repair_idle.c \
	core/repair/repair_internal.h \
	core/repair/repair_lead.c \
	core/repair/repair_lid.c \
	core/repair/repair_move.c \
	core/repair/repair_ports.c \
	core/repair/repair_state.c \
	core/repair/repair_state.h \
	core/repair/repair_verdict.c \
	core/repair/repair_visit.c \
	core/repair/repair_way.c \
	core/repair/repair_way.h
