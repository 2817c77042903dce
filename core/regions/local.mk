# SPDX-License-Identifier: BSD-2-Clause
# core/regions/: several engines, one whole.
CORE_SOURCES += \
	core/regions/compose.c \
	core/regions/compose.h \
	core/regions/compose_begin.c \
	core/regions/compose_component.h \
	core/regions/compose_components.c \
	core/regions/compose_complete.c \
	core/regions/compose_core.c \
	core/regions/compose_engines.c \
	core/regions/compose_gateways.c \
	core/regions/compose_gateways.h \
	core/regions/compose_ingress.c \
	core/regions/compose_internal.h \
	core/regions/compose_islands.c \
	core/regions/compose_merge_regions.c \
	core/regions/compose_order.c \
	core/regions/compose_report.c \
	core/regions/compose_sl_tables.c \
	core/regions/compose_steps.h \
	core/regions/compose_view.c \
	core/regions/regions.c \
	core/regions/regions.h
