# SPDX-License-Identifier: BSD-2-Clause
# core/regions/: several engines, one whole.
CORE_SOURCES += \
	core/regions/compose.c \
	core/regions/compose.h \
	core/regions/compose_before.c \
	core/regions/compose_begin.c \
	core/regions/compose_core.c \
	core/regions/compose_crowding.c \
	core/regions/compose_engines.c \
	core/regions/compose_gateways.c \
	core/regions/compose_homes.c \
	core/regions/compose_internal.h \
	core/regions/compose_islands.c \
	core/regions/compose_merge.c \
	core/regions/compose_order.c \
	core/regions/compose_pieces.c \
	core/regions/compose_planes.c \
	core/regions/compose_sls.c \
	core/regions/compose_tell.c \
	core/regions/compose_unite.c \
	core/regions/compose_view.c \
	core/regions/regions.c \
	core/regions/regions.h
