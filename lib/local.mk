# SPDX-License-Identifier: BSD-2-Clause
# lib/: knows no InfiniBand.  Becomes part of libfmcore and of libfmalgo.a.
LIB_SOURCES = \
	lib/acyclic.c \
	lib/acyclic.h \
	lib/arena.c \
	lib/arena.h \
	lib/bitset.h \
	lib/error.c \
	lib/error.h \
	lib/faultpoint.c \
	lib/faultpoint.h \
	lib/files.c \
	lib/files.h \
	lib/hash.c \
	lib/hash.h \
	lib/heap.c \
	lib/heap.h \
	lib/lines.h \
	lib/log.c \
	lib/log.h \
	lib/median.h \
	lib/pages.c \
	lib/pages.h \
	lib/pool.c \
	lib/pool.h \
	lib/printable.c \
	lib/printable.h \
	lib/red_zone.h \
	lib/rng.h \
	lib/scc.c \
	lib/scc.h \
	lib/seal.c \
	lib/seal.h \
	lib/search.h \
	lib/standard.c \
	lib/standard.h \
	lib/thread.h \
	lib/tokens.h \
	lib/ufind.h \
	lib/vec.h \
	lib/wide.h

noinst_LTLIBRARIES += libfmlib.la
libfmlib_la_SOURCES = $(LIB_SOURCES)
libfmlib_la_LIBADD = -lpthread -lm
