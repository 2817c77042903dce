# SPDX-License-Identifier: BSD-2-Clause
# tools/: fmroute, fmctl, fmd-engine-check.
bin_PROGRAMS += fmroute
fmroute_SOURCES = \
	tools/fmroute.c \
	tools/fmroute.h \
	tools/fmroute_adaptive.c \
	tools/fmroute_adaptive.h \
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
fmroute_LDADD = libfmcore.la $(JANSSON_LIBS)

bin_PROGRAMS += fmd-engine-check
fmd_engine_check_SOURCES = tools/fmd-engine-check.c
fmd_engine_check_LDADD = libfmcore.la

sbin_PROGRAMS += fmctl
fmctl_SOURCES = tools/fmctl.c
fmctl_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
fmctl_LDADD = libfmcore.la $(JANSSON_LIBS)

# Writes conf/fmd.conf and the tables of fmd.conf(5) while fmd is built.
noinst_PROGRAMS += fmd-doc
fmd_doc_SOURCES = tools/fmd-doc.c
fmd_doc_LDADD = libfmcore.la
