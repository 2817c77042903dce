# SPDX-License-Identifier: BSD-2-Clause
# core/congestion/: what congestion control is to be set to: from OpenSM's words to blocks of MADs.
CORE_SOURCES += \
	core/congestion/settings.c \
	core/congestion/settings.h
