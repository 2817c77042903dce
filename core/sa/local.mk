# SPDX-License-Identifier: BSD-2-Clause
# core/sa/: what the subnet administrator knows and answers.
CORE_SOURCES += \
	core/sa/rows.c \
	core/sa/rows.h
