# SPDX-License-Identifier: BSD-2-Clause
# host/acm/: a provider for ibacm, the assistant of rdma-core that hosts ask for paths.  Of it
# only libfmdacm.so knows ibacm's headers.
HOST_SOURCES += \
	host/acm/acm_file.c \
	host/acm/acm_file.h

if HAVE_IBACM
acmdir = $(libdir)/ibacm
acm_LTLIBRARIES = libfmdacm.la
libfmdacm_la_SOURCES = host/acm/acm.c
libfmdacm_la_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS)
# ibacm passes over symbolic links: the file has the name itself
libfmdacm_la_LDFLAGS = $(FM_LDFLAGS) -module -avoid-version -shared
libfmdacm_la_LIBADD = libfmhost.la
endif
