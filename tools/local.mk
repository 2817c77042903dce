# SPDX-License-Identifier: BSD-2-Clause
# tools/: fmd, fmroute, fmctl, fmsim, fmd-engine-check.
sbin_PROGRAMS += fmd
fmd_SOURCES = tools/fmd.c
fmd_LDADD = libfmlab.la libfmcore.la

bin_PROGRAMS += fmroute
fmroute_SOURCES = \
	tools/fmroute.c \
	tools/fmroute.h \
	tools/fmroute_change.c \
	tools/fmroute_change.h \
	tools/fmroute_diff.c \
	tools/fmroute_fabric.c \
	tools/fmroute_job.c \
	tools/fmroute_job.h \
	tools/fmroute_regions.c \
	tools/fmroute_regions.h \
	tools/fmroute_route.c \
	tools/fmroute_what_if.c
fmroute_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
fmroute_LDADD = libfmlab.la libfmcore.la $(JANSSON_LIBS)

bin_PROGRAMS += fmd-engine-check
fmd_engine_check_SOURCES = tools/fmd-engine-check.c
fmd_engine_check_LDADD = libfmlab.la libfmcore.la

sbin_PROGRAMS += fmctl
fmctl_SOURCES = \
	tools/fmctl.c \
	tools/fmctl.h \
	tools/fmctl_call.c \
	tools/fmctl_counters.c \
	tools/fmctl_dist.c \
	tools/fmctl_show.c \
	tools/fmctl_table.c \
	tools/fmctl/hostlist.c \
	tools/fmctl/hostlist.h \
	tools/fmctl/slurm.c \
	tools/fmctl/topo.c \
	tools/fmctl_wait.c
if HAVE_HIREDIS
fmctl_SOURCES += tools/fmctl_peers.c
endif
fmctl_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(HIREDIS_CFLAGS)
fmctl_LDADD = libfmhost.la libfmperf.la libfmcore.la $(JANSSON_LIBS) $(HIREDIS_LIBS)

# A script, which needs openssl where it runs.

# Writes conf/fmd.conf and the tables of fmd.conf(5) while fmd is built.
noinst_PROGRAMS += fmd-doc
fmd_doc_SOURCES = tools/fmd-doc.c
fmd_doc_LDADD = libfmcore.la

# The simulator as a server, and libibumad's API on it (LD_PRELOAD).
bin_PROGRAMS += fmsim
fmsim_SOURCES = tools/fmsim.c
fmsim_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
fmsim_LDADD = libfmlab.la libfmcore.la $(EVENT_LIBS)
if HAVE_UMAD
# no library to link with: a folder of its own
fmsimdir = $(libdir)/fmsim
fmsim_LTLIBRARIES = libfmsim-umad.la
libfmsim_umad_la_SOURCES = \
	lab/fmsim/umad_client.c \
	lab/fmsim/umad_preload.c \
	lab/fmsim/umad_preload.h \
	lab/fmsim/umad_preload_io.c \
	lib/error.c
# it takes the place of functions that _FORTIFY_SOURCE has inline
libfmsim_umad_la_CFLAGS = $(AM_CFLAGS) -U_FORTIFY_SOURCE $(UMAD_CFLAGS)
libfmsim_umad_la_LDFLAGS = $(FM_LDFLAGS) -module -avoid-version -shared
libfmsim_umad_la_LIBADD = -ldl
endif
