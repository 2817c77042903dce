# SPDX-License-Identifier: BSD-2-Clause
# core/daemon/: one loop over all of these: start, signals, commands, reports, stop.
CORE_SOURCES += \
	core/daemon/administer.c \
	core/daemon/commands.c \
	core/daemon/daemon.c \
	core/daemon/daemon.h \
	core/daemon/dump.c \
	core/daemon/dump.h \
	core/daemon/early.c \
	core/daemon/early.h \
	core/daemon/fabric_json.c \
	core/daemon/fabric_json.h \
	core/daemon/flood.c \
	core/daemon/isolate_command.c \
	core/daemon/news.c \
	core/daemon/partitions_json.c \
	core/daemon/path_command.c \
	core/daemon/readback.c \
	core/daemon/readback.h \
	core/daemon/regions_json.c \
	core/daemon/regions_json.h \
	core/daemon/registered.c \
	core/daemon/report.c \
	core/daemon/service.c \
	core/daemon/service.h \
	core/daemon/settings.c \
	core/daemon/trouble_json.c
