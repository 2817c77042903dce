# SPDX-License-Identifier: BSD-2-Clause
# lab/sim/: a simulated fabric behind the transport sim:, its agents and faults.
LAB_SOURCES += \
	lab/sim/bytes.h \
	lab/sim/events.c \
	lab/sim/events.h \
	lab/sim/fabric.c \
	lab/sim/fabric.h \
	lab/sim/fault.c \
	lab/sim/flow.c \
	lab/sim/link.c \
	lab/sim/net.c \
	lab/sim/net.h \
	lab/sim/notice.c \
	lab/sim/pma.c \
	lab/sim/pma.h \
	lab/sim/sim.c \
	lab/sim/sim.h \
	lab/sim/sma.c \
	lab/sim/sma.h \
	lab/sim/sma_internal.h \
	lab/sim/sma_port_info.c \
	lab/sim/spec.c \
	lab/sim/spec.h \
	lab/sim/step.c \
	lab/sim/transport_sim.c \
	lab/sim/trap.c \
	lab/sim/walk.c
