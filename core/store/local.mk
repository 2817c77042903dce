# SPDX-License-Identifier: BSD-2-Clause
# core/store/: what outlives the process.
CORE_SOURCES += core/store/store.c core/store/store.h
