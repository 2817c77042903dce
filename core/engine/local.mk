# SPDX-License-Identifier: BSD-2-Clause
# core/engine/: engines found and loaded; one call of one; the core's own up/down.
CORE_SOURCES += \
	core/engine/auto.c \
	core/engine/auto.h \
	core/engine/fallback.c \
	core/engine/fallback.h \
	core/engine/folders.c \
	core/engine/folders.h \
	core/engine/ordered.c \
	core/engine/ordered.h \
	core/engine/plugin.c \
	core/engine/plugin.h \
	core/engine/plugin_image.c \
	core/engine/plugin_image.h \
	core/engine/renumber.c \
	core/engine/renumber.h \
	core/engine/route_apart.c \
	core/engine/route_apart.h \
	core/engine/router.c \
	core/engine/router.h
