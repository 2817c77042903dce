# SPDX-License-Identifier: BSD-2-Clause
# core/ctl/: the control socket, the last events.
CORE_SOURCES += \
	core/ctl/client.c \
	core/ctl/ctl.h \
	core/ctl/events.c \
	core/ctl/events.h \
	core/ctl/server.c
