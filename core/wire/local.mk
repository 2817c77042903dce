# SPDX-License-Identifier: BSD-2-Clause
# core/wire/: MADs and SA records, field by field.
CORE_SOURCES += \
	core/wire/congestion.c \
	core/wire/congestion.h \
	core/wire/ip_service.c \
	core/wire/ip_service.h \
	core/wire/pkeys.c \
	core/wire/pkeys.h \
	core/wire/sa_wire.c \
	core/wire/sa_wire.h \
	core/wire/sm_proof.c \
	core/wire/sm_proof.h \
	core/wire/wire.c \
	core/wire/wire.h \
	core/wire/wire_rows.h
