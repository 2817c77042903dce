# SPDX-License-Identifier: BSD-2-Clause
# core/cdg/: channel dependencies: of one LID while it changes, of all tables, kept acyclic.
CORE_SOURCES += \
	core/cdg/depend.c \
	core/cdg/depend.h \
	core/cdg/depend_build.c \
	core/cdg/depend_choices.c \
	core/cdg/depend_follow.c \
	core/cdg/depend_ports.c \
	core/cdg/depend_sweep.c \
	core/cdg/deps.c \
	core/cdg/deps.h \
	core/cdg/sl_model.h
