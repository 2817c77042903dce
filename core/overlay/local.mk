# SPDX-License-Identifier: BSD-2-Clause
# core/overlay/: MLNX_OFED's routing chains: steps of several engines laid over one another.
CORE_SOURCES += \
	core/overlay/overlay.c \
	core/overlay/overlay.h \
	core/overlay/rchain.c \
	core/overlay/rchain.h \
	core/overlay/rchain_config.c \
	core/overlay/rchain_config.h \
	core/overlay/rchain_groups.c \
	core/overlay/rchain_groups.h \
	core/overlay/rchain_members.c
