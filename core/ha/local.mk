# SPDX-License-Identifier: BSD-2-Clause
# core/ha/: the SMInfo state machine, IBA 14.4.
CORE_SOURCES += \
	core/ha/ha.c \
	core/ha/ha.h
