# SPDX-License-Identifier: BSD-2-Clause
# core/: all of it but main() is libfmcore, so that programs, tests and
# fuzzers link the code that runs in production.
CORE_SOURCES =
include core/mad/local.mk
include core/sim/local.mk
include core/topo/local.mk
include core/conf/local.mk
include core/route/local.mk
include core/subnet/local.mk
include core/sa/local.mk
include core/store/local.mk
include core/sweep/local.mk
include core/ha/local.mk
include core/ctl/local.mk
include core/daemon/local.mk
include core/isolate/local.mk

noinst_LTLIBRARIES += libfmcore.la
libfmcore_la_SOURCES = $(CORE_SOURCES)
libfmcore_la_CFLAGS = $(AM_CFLAGS) $(CONFUSE_CFLAGS) $(EVENT_CFLAGS) $(LMDB_CFLAGS) \
	$(JANSSON_CFLAGS) $(SYSTEMD_CFLAGS) $(UMAD_CFLAGS)
libfmcore_la_LIBADD = libfmcommon.la libfmlib.la $(LTDL_LIBS) $(CONFUSE_LIBS) $(EVENT_LIBS) $(LMDB_LIBS) \
	$(JANSSON_LIBS) $(SYSTEMD_LIBS) $(UMAD_LIBS)

sbin_PROGRAMS += fmd
fmd_SOURCES = core/main.c
fmd_LDADD = libfmcore.la
