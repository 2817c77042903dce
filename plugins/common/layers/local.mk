# SPDX-License-Identifier: BSD-2-Clause
# plugins/common/layers/: virtual lanes for given trees; what sssp, dfsssp and lash share.
COMMON_SOURCES += \
	plugins/common/layers/channels.c \
	plugins/common/layers/channels.h \
	plugins/common/layers/layers.c \
	plugins/common/layers/layers.h \
	plugins/common/layers/layers_tables.c \
	plugins/common/layers/sssp.c \
	plugins/common/layers/sssp.h
nobase_fmalgo_HEADERS += \
	plugins/common/layers/channels.h \
	plugins/common/layers/layers.h \
	plugins/common/layers/sssp.h
