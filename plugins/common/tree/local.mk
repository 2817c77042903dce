# SPDX-License-Identifier: BSD-2-Clause
# plugins/common/tree/: fat trees: ranks, pods and planes found, next steps by digits.
COMMON_SOURCES += \
	plugins/common/tree/spread.c \
	plugins/common/tree/spread.h \
	plugins/common/tree/spread_columns.c \
	plugins/common/tree/spread_main.c \
	plugins/common/tree/spread_row.h \
	plugins/common/tree/tree.c \
	plugins/common/tree/tree.h
nobase_fmalgo_HEADERS += \
	plugins/common/tree/spread.h \
	plugins/common/tree/tree.h
