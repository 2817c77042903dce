# SPDX-License-Identifier: BSD-2-Clause
# core/sim/: the simulated fabric behind the transport sim:.
CORE_SOURCES += \
	core/sim/bytes.h \
	core/sim/console.c \
	core/sim/console.h \
	core/sim/events.c \
	core/sim/events.h \
	core/sim/fabric.c \
	core/sim/fabric.h \
	core/sim/fault.c \
	core/sim/host.c \
	core/sim/host.h \
	core/sim/host_internal.h \
	core/sim/host_send.c \
	core/sim/link.c \
	core/sim/net.c \
	core/sim/net.h \
	core/sim/notice.c \
	core/sim/pkey.c \
	core/sim/pma.c \
	core/sim/pma.h \
	core/sim/server.c \
	core/sim/server.h \
	core/sim/server_internal.h \
	core/sim/server_take.c \
	core/sim/sim.c \
	core/sim/sim.h \
	core/sim/sma.c \
	core/sim/sma.h \
	core/sim/sma_internal.h \
	core/sim/sma_port_info.c \
	core/sim/spec.c \
	core/sim/spec.h \
	core/sim/transport_sim.c \
	core/sim/trap.c \
	core/sim/umad_client.c \
	core/sim/umad_client.h \
	core/sim/umad_proto.h \
	core/sim/walk.c
