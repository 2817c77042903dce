# SPDX-License-Identifier: BSD-2-Clause
# core/vfabric/: virtual fabrics, as partitions and QoS.
CORE_SOURCES += \
	core/vfabric/members.c \
	core/vfabric/members.h \
	core/vfabric/vfabric.c \
	core/vfabric/vfabric.h
