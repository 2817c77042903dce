# SPDX-License-Identifier: BSD-2-Clause
# perf/: the counters of all ports.  libfmperf is all but the program, for fmctl and for tests.
noinst_LTLIBRARIES += libfmperf.la
libfmperf_la_SOURCES = \
	perf/book/answer.c \
	perf/book/answer.h \
	perf/book/book.h \
	perf/book/book_read.c \
	perf/book/book_words.h \
	perf/book/book_write.c \
	perf/book/counters.c \
	perf/book/counters.h \
	perf/book/history.c \
	perf/book/history.h \
	perf/health/evidence.c \
	perf/health/evidence.h \
	perf/health/judge.c \
	perf/health/judge.h \
	perf/health/tell.c \
	perf/health/tell.h \
	perf/reader/asker.c \
	perf/reader/asker.h \
	perf/reader/meaning.c \
	perf/reader/meaning.h \
	perf/reader/pace.h \
	perf/reader/pma.c \
	perf/reader/pma.h \
	perf/reader/topology.c \
	perf/reader/topology.h
libfmperf_la_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)

if HAVE_UMAD
sbin_PROGRAMS += fmd-perf
fmd_perf_SOURCES = perf/reader/perf.c
fmd_perf_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
fmd_perf_LDADD = libfmperf.la libfmcore.la $(JANSSON_LIBS)
endif
