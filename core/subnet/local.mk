# SPDX-License-Identifier: BSD-2-Clause
# core/subnet/: who gets which LID; OpenSM's guid2lid, partitions.conf, QoS keys and policy, prefix routes.
CORE_SOURCES += \
	core/subnet/guid2lid.c \
	core/subnet/guid2lid.h \
	core/subnet/lid.c \
	core/subnet/lid.h \
	core/subnet/partitions.c \
	core/subnet/partitions.h \
	core/subnet/partitions_internal.h \
	core/subnet/partitions_read.c \
	core/subnet/pkey_table.c \
	core/subnet/pkey_table.h \
	core/subnet/port_pkeys.c \
	core/subnet/prefix_routes.c \
	core/subnet/prefix_routes.h \
	core/subnet/qos.c \
	core/subnet/qos.h \
	core/subnet/qos_policy.c \
	core/subnet/qos_policy.h \
	core/subnet/qos_policy_groups.c \
	core/subnet/qos_policy_internal.h \
	core/subnet/qos_policy_read.c \
	core/subnet/qos_policy_read.h \
	core/subnet/qos_policy_ulps.c \
	core/subnet/qos_policy_values.c \
	core/subnet/untrusted.h
