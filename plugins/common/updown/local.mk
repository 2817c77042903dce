# SPDX-License-Identifier: BSD-2-Clause
# plugins/common/updown/: up/down routing of any fabric: an order found, turns relaxed for pairs without a legal path.
COMMON_SOURCES += \
	plugins/common/updown/turn_relaxation.c \
	plugins/common/updown/turn_relaxation.h \
	plugins/common/updown/updown.c \
	plugins/common/updown/updown.h \
	plugins/common/updown/updown_options.c \
	plugins/common/updown/updown_options.h
nobase_fmalgo_HEADERS += \
	plugins/common/updown/turn_relaxation.h \
	plugins/common/updown/updown.h \
	plugins/common/updown/updown_options.h
