# SPDX-License-Identifier: BSD-2-Clause
# core/ha/: other SMs.
CORE_SOURCES += core/ha/ha.c core/ha/ha.h
