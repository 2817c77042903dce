# SPDX-License-Identifier: BSD-2-Clause
# core/cabling/: the cables that are to be there against those that are.
CORE_SOURCES += \
	core/cabling/cabling.h \
	core/cabling/compare.c \
	core/cabling/match.c \
	core/cabling/match.h \
	core/cabling/of_inventory.c \
	core/cabling/say.c \
	core/cabling/watch.c \
	core/cabling/watch.h
