# SPDX-License-Identifier: BSD-2-Clause
# core/audit/: what nodes hold is read back while no sweep runs.
CORE_SOURCES += \
	core/audit/audit.c \
	core/audit/audit.h \
	core/audit/found.c \
	core/audit/found.h
