# SPDX-License-Identifier: BSD-2-Clause
# core/store/: what outlives the process, by port GUID, in LMDB.
CORE_SOURCES += \
	core/store/store.c \
	core/store/store.h \
	core/store/store_check.c \
	core/store/store_internal.h \
	core/store/store_lock.c \
	core/store/store_pending.c \
	core/store/store_records.c
