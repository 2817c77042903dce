# SPDX-License-Identifier: BSD-2-Clause
# core/daemon/: the running fmd.
CORE_SOURCES += core/daemon/administer.c core/daemon/commands.c core/daemon/daemon.c core/daemon/daemon.h \
	core/daemon/early.c core/daemon/early.h core/daemon/flood.c \
	core/daemon/partitions_json.c core/daemon/path_command.c core/daemon/readback.c core/daemon/readback.h \
	core/daemon/registered.c core/daemon/report.c core/daemon/service.c core/daemon/service.h \
	core/daemon/settings.c core/daemon/trouble_json.c
