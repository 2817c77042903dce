# SPDX-License-Identifier: BSD-2-Clause
# core/vendor/: programmers of adaptive routing found, checked and called.
CORE_SOURCES += \
	core/vendor/vendors.c \
	core/vendor/vendors.h
