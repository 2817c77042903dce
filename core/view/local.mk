# SPDX-License-Identifier: BSD-2-Clause
# core/view/: the subnet as it was committed, for the SA to answer from.
CORE_SOURCES += \
	core/view/kept.c \
	core/view/kept.h \
	core/view/kept_file.c \
	core/view/path_pairs.c \
	core/view/path_pairs.h \
	core/view/rows.c \
	core/view/rows.h \
	core/view/view.c \
	core/view/view.h \
	core/view/view_find.c \
	core/view/view_internal.h \
	core/view/view_rows.c \
	core/view/view_slot.c
