# SPDX-License-Identifier: BSD-2-Clause
# core/isolate/: engines of others in processes of their own: the child, what it is handed, what it may do.
CORE_SOURCES += \
	core/isolate/apart.c \
	core/isolate/blob.c \
	core/isolate/blob.h \
	core/isolate/child.c \
	core/isolate/child.h \
	core/isolate/descriptor.c \
	core/isolate/descriptor.h \
	core/isolate/isolate.h \
	core/isolate/pack.c \
	core/isolate/wire.h
if HAVE_SECCOMP
libexec_PROGRAMS += fmd-engine-host
fmd_engine_host_SOURCES = core/isolate/host_main.c core/isolate/sandbox.c core/isolate/sandbox.h
fmd_engine_host_CFLAGS = $(AM_CFLAGS) $(SECCOMP_CFLAGS)
fmd_engine_host_LDADD = libfmcore.la $(SECCOMP_LIBS)
endif
