# SPDX-License-Identifier: BSD-2-Clause
# core/: all of it is libfmcore, so that programs, tests and fuzzers link the code that runs
# in production.  The rooms stand in their order: one includes only what stands before it.
CORE_SOURCES =
include core/text/local.mk
include core/events/local.mk
include core/redis/local.mk
include core/graph/local.mk
include core/gauge/local.mk
include core/cdg/local.mk
include core/verify/local.mk
include core/nodes/local.mk
include core/abi/local.mk
include core/apart/local.mk
include core/engine/local.mk
include core/vendor/local.mk
include core/opensm/local.mk
include core/plan/local.mk
include core/mcast/local.mk
include core/repair/local.mk
include core/transition/local.mk
include core/overlay/local.mk
include core/regions/local.mk
include core/route/local.mk
include core/wire/local.mk
include core/blobs/local.mk
include core/mad/local.mk
include core/rmpp/local.mk
include core/store/local.mk
include core/subnet/local.mk
include core/netlist/local.mk
include core/vfabric/local.mk
include core/ha/local.mk
include core/ctl/local.mk
include core/congestion/local.mk
include core/conf/local.mk
include core/inventory/local.mk
include core/ask/local.mk
include core/adaptive/local.mk
include core/sms/local.mk
include core/program/local.mk
include core/audit/local.mk
include core/agents/local.mk
include core/sweep/local.mk
include core/registry/local.mk
include core/view/local.mk
include core/sa/local.mk
include core/server/local.mk
include core/dist/local.mk
include core/standby/local.mk
include core/picture/local.mk
include core/cabling/local.mk
include core/health/local.mk
include core/daemon/local.mk

noinst_LTLIBRARIES += libfmcore.la
libfmcore_la_SOURCES = $(CORE_SOURCES)
libfmcore_la_CFLAGS = $(AM_CFLAGS) $(CONFUSE_CFLAGS) $(EVENT_CFLAGS) $(LMDB_CFLAGS) \
	$(JANSSON_CFLAGS) $(SYSTEMD_CFLAGS) $(UMAD_CFLAGS) $(HIREDIS_CFLAGS) \
	$(EXPAT_CFLAGS)
libfmcore_la_LIBADD = libfmcommon.la libfmlib.la $(LTDL_LIBS) $(CONFUSE_LIBS) $(EVENT_LIBS) $(LMDB_LIBS) \
	$(JANSSON_LIBS) $(SYSTEMD_LIBS) $(UMAD_LIBS) $(HIREDIS_LIBS) $(EXPAT_LIBS)
