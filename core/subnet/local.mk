# SPDX-License-Identifier: BSD-2-Clause
# core/subnet/: LIDs, link states, partitions, QoS.
CORE_SOURCES += core/subnet/partitions.h core/subnet/qos.h core/subnet/qos_policy.h
CORE_SOURCES += core/subnet/lid.h core/subnet/lid.c core/subnet/guid2lid.h core/subnet/guid2lid.c
