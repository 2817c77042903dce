# SPDX-License-Identifier: BSD-2-Clause
# plugins/common/layers/: virtual layers for given trees; what dfsssp and lash share.
COMMON_SOURCES += \
	plugins/common/layers/channels.c \
	plugins/common/layers/channels.h \
	plugins/common/layers/layered.c \
	plugins/common/layers/layered.h \
	plugins/common/layers/layers.c \
	plugins/common/layers/layers.h \
	plugins/common/layers/layers_even.c plugins/common/layers/layers_tables.c
nobase_fmalgo_HEADERS += \
	plugins/common/layers/channels.h \
	plugins/common/layers/layered.h \
	plugins/common/layers/layers.h
