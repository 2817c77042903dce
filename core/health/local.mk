# SPDX-License-Identifier: BSD-2-Clause
# core/health/: one verdict a cable, from what fmd-perf tells and what fmd knows.
CORE_SOURCES += \
	core/health/health.c \
	core/health/health.h \
	core/health/quarantine.c \
	core/health/quarantine.h \
	core/health/findings.c \
	core/health/findings.h
