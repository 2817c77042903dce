# SPDX-License-Identifier: BSD-2-Clause
# core/picture/: the whole fabric in one answer, for programs.
CORE_SOURCES += \
	core/picture/cable.c \
	core/picture/cable.h \
	core/picture/choices.c \
	core/picture/choices.h \
	core/picture/crossed.c \
	core/picture/crossed.h \
	core/picture/crossing.c \
	core/picture/crossing.h \
	core/picture/fullest.c \
	core/picture/fullest.h \
	core/picture/kept.c \
	core/picture/kept.h \
	core/picture/loads.c \
	core/picture/loads.h \
	core/picture/marks.c \
	core/picture/marks.h \
	core/picture/picture.c \
	core/picture/picture.h \
	core/picture/picture_text.c
