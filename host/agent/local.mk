# SPDX-License-Identifier: BSD-2-Clause
# host/agent/: fmd-agent, which keeps the file of a host's paths.
if HAVE_UMAD
sbin_PROGRAMS += fmd-agent
fmd_agent_SOURCES = \
	host/agent/agent.c \
	host/agent/interfaces.c \
	host/agent/interfaces.h \
	host/agent/kernel_port.c \
	host/agent/kernel_port.h \
	host/agent/neighbours.c \
	host/agent/neighbours.h \
	host/agent/netlink.c \
	host/agent/netlink.h \
	host/agent/register.c \
	host/agent/register.h \
	host/agent/relays.c \
	host/agent/relays.h \
	host/agent/replica.c \
	host/agent/replica.h \
	host/agent/source.h \
	host/agent/source_files.c
if HAVE_HIREDIS
fmd_agent_SOURCES += \
	core/redis/info.c \
	core/redis/info.h \
	core/redis/redis.c \
	core/redis/redis.h \
	host/agent/above.c \
	host/agent/above.h \
	host/agent/parents.c \
	host/agent/parents.h \
	host/agent/source_redis.c
endif
fmd_agent_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS) $(HIREDIS_CFLAGS)
fmd_agent_LDADD = libfmhost.la $(UMAD_LIBS) $(HIREDIS_LIBS)
endif
