# SPDX-License-Identifier: BSD-2-Clause
# core/dist/: the paths of the subnet published for its hosts.
CORE_SOURCES += \
	core/dist/addresses.c \
	core/dist/addresses.h \
	core/dist/claimed.c \
	core/dist/claimed.h \
	core/dist/dist.c \
	core/dist/dist.h \
	core/dist/dist_json.c \
	core/dist/dist_json.h \
	core/dist/files.c \
	core/dist/followers.c \
	core/dist/followers.h \
	core/dist/place.h \
	core/dist/published.c \
	core/dist/published.h \
	core/dist/view_blobs.c \
	core/dist/view_blobs.h
if HAVE_HIREDIS
CORE_SOURCES += core/dist/redis.c
endif
