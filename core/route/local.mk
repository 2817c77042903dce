# SPDX-License-Identifier: BSD-2-Clause
# core/route/: snapshots, tables, chains, verification, metrics.
CORE_SOURCES += \
	core/route/metrics.h core/route/plan.h core/route/snapshot.h core/route/tables.h \
	core/route/verify.h
