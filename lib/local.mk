# SPDX-License-Identifier: BSD-2-Clause
# lib/: knows no InfiniBand; lib/algo/: algorithms on graphs and arrays.  Becomes part of
# libfmcore and of libfmalgo.a.
LIB_SOURCES = \
	lib/algo/acyclic.c \
	lib/algo/acyclic.h \
	lib/algo/heap.c \
	lib/algo/heap.h \
	lib/algo/median.h \
	lib/algo/scc.c \
	lib/algo/scc.h \
	lib/algo/search.h \
	lib/algo/topo_order.c \
	lib/algo/topo_order.h \
	lib/algo/topo_rank.c \
	lib/algo/topo_rank.h \
	lib/algo/ufind.h \
	lib/arena.c \
	lib/arena.h \
	lib/bitset.h \
	lib/clock.h \
	lib/error.c \
	lib/error.h \
	lib/faultpoint.c \
	lib/faultpoint.h \
	lib/hash.c \
	lib/hash.h \
	lib/lines.h \
	lib/log.c \
	lib/log.h \
	lib/pages.c \
	lib/pages.h \
	lib/pool.c \
	lib/pool.h \
	lib/printable.c \
	lib/printable.h \
	lib/rng.h \
	lib/speck32.h \
	lib/thread.h \
	lib/tokens.h \
	lib/vec.h \
	lib/wide.h

noinst_LTLIBRARIES += libfmlib.la
libfmlib_la_SOURCES = $(LIB_SOURCES)
libfmlib_la_LIBADD = -lpthread -lm
