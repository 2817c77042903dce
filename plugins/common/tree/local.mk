# SPDX-License-Identifier: BSD-2-Clause
# plugins/common/tree/: fat trees: ranks, pods and planes found, next steps by digits.
COMMON_SOURCES += \
	plugins/common/tree/dmodk.c \
	plugins/common/tree/dmodk.h \
	plugins/common/tree/dmodk_alternatives.c \
	plugins/common/tree/dmodk_costs.c \
	plugins/common/tree/dmodk_down.c \
	plugins/common/tree/dmodk_fill.c \
	plugins/common/tree/dmodk_fill.h \
	plugins/common/tree/dmodk_leads.c \
	plugins/common/tree/dmodk_settle.c \
	plugins/common/tree/dmodk_shape.c \
	plugins/common/tree/dmodk_slots.c \
	plugins/common/tree/dmodk_translate.c \
	plugins/common/tree/dmodk_tree.h \
	plugins/common/tree/dmodk_up.c \
	plugins/common/tree/tiers.c \
	plugins/common/tree/tiers.h \
	plugins/common/tree/tree.c \
	plugins/common/tree/tree.h
nobase_fmalgo_HEADERS += \
	plugins/common/tree/dmodk.h \
	plugins/common/tree/tiers.h \
	plugins/common/tree/tree.h
