# SPDX-License-Identifier: BSD-2-Clause
# plugins/common/updown/: up/down routing of any fabric: an order found, pairs without a legal path mended.
COMMON_SOURCES += \
	plugins/common/updown/mend.c \
	plugins/common/updown/mend.h \
	plugins/common/updown/updown.c \
	plugins/common/updown/updown.h \
	plugins/common/updown/updown_options.c \
	plugins/common/updown/updown_options.h
nobase_fmalgo_HEADERS += \
	plugins/common/updown/mend.h \
	plugins/common/updown/updown.h \
	plugins/common/updown/updown_options.h
