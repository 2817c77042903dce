# SPDX-License-Identifier: BSD-2-Clause
# lab/hosts/: what the kernel does at a port of a simulated host: agents, RMPP.
LAB_SOURCES += \
	lab/hosts/host.c \
	lab/hosts/host.h \
	lab/hosts/host_internal.h \
	lab/hosts/host_send.c
