# SPDX-License-Identifier: BSD-2-Clause
# core/gauge/: how good tables are: loads of links, random bisections.
CORE_SOURCES += \
	core/gauge/bisection.c \
	core/gauge/gauge.c \
	core/gauge/gauge.h \
	core/gauge/gauge_walk.c \
	core/gauge/stripes.c
