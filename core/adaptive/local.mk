# SPDX-License-Identifier: BSD-2-Clause
# core/adaptive/: groups of adaptive routing, brought to the switches that have them.
CORE_SOURCES += \
	core/adaptive/adaptive.c \
	core/adaptive/adaptive.h \
	core/adaptive/bring.c \
	core/adaptive/internal.h \
	core/adaptive/job.c \
	core/adaptive/known.c
