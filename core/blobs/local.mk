# SPDX-License-Identifier: BSD-2-Clause
# core/blobs/: what is published of a subnet, byte by byte.
CORE_SOURCES += \
	core/blobs/blobs.c \
	core/blobs/blobs.h \
	core/blobs/manifest.c \
	core/blobs/manifest.h
