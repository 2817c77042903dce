# SPDX-License-Identifier: BSD-2-Clause
# core/inventory/: what is known of nodes, ports and cables; what every port and switch is to be set to.
CORE_SOURCES += \
	core/inventory/fields.c \
	core/inventory/fields.h \
	core/inventory/flaps.c \
	core/inventory/flaps.h \
	core/inventory/inventory.c \
	core/inventory/inventory.h \
	core/inventory/isolated.c \
	core/inventory/isolated.h \
	core/inventory/isolated_read.c \
	core/inventory/isolated_read.h \
	core/inventory/lasting.c \
	core/inventory/lasting.h \
	core/inventory/news.c \
	core/inventory/news.h \
	core/inventory/news_internal.h \
	core/inventory/news_say.c \
	core/inventory/seen.c \
	core/inventory/seen.h \
	core/inventory/settings.c \
	core/inventory/settings.h
