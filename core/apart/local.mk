# SPDX-License-Identifier: BSD-2-Clause
# core/apart/: engines of others in processes of their own: the child, what it is handed, what it may do.
CORE_SOURCES += \
	core/apart/apart.c \
	core/apart/apart.h \
	core/apart/blob.c \
	core/apart/blob.h \
	core/apart/child.c \
	core/apart/child.h \
	core/apart/descriptor.c \
	core/apart/descriptor.h \
	core/apart/pack.c \
	core/apart/programmer.c \
	core/apart/programmer.h \
	core/apart/wire.h
if HAVE_SECCOMP
libexec_PROGRAMS += fmd-engine-host
fmd_engine_host_SOURCES = core/apart/host.h core/apart/host_main.c core/apart/host_vendor.c \
	core/apart/host_wire.c \
	core/apart/sandbox.c core/apart/sandbox.h
fmd_engine_host_CFLAGS = $(AM_CFLAGS) $(SECCOMP_CFLAGS)
fmd_engine_host_LDADD = libfmcore.la $(SECCOMP_LIBS)
endif
