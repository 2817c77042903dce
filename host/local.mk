# SPDX-License-Identifier: BSD-2-Clause
# host/: what runs on hosts.  libfmhost is what it needs of the rooms before it: no libfmcore, as
# a host has neither a loop nor a store.
HOST_SOURCES =
include host/paths/local.mk
include host/acm/local.mk

noinst_LTLIBRARIES += libfmhost.la
libfmhost_la_SOURCES = $(HOST_SOURCES) \
	core/blobs/blobs.c \
	core/blobs/blobs.h \
	core/blobs/manifest.c \
	core/blobs/manifest.h \
	core/text/files.c \
	core/text/files.h \
	core/wire/ip_service.c \
	core/wire/ip_service.h \
	core/wire/pkeys.c \
	core/wire/pkeys.h \
	core/wire/sa_wire.c \
	core/wire/sa_wire.h \
	core/wire/wire.c \
	core/wire/wire.h \
	core/wire/wire_rows.h \
	core/text/number.c \
	core/text/number.h \
	core/text/relay.c \
	core/text/relay.h \
	lib/error.c \
	lib/error.h \
	lib/hash.c \
	lib/hash.h \
	lib/log.c \
	lib/log.h \
	lib/printable.c \
	lib/printable.h
libfmhost_la_CFLAGS = $(AM_CFLAGS)

include host/agent/local.mk
