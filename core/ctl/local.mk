# SPDX-License-Identifier: BSD-2-Clause
# core/ctl/: the control socket.
CORE_SOURCES += \
	core/ctl/client.c \
	core/ctl/ctl.h \
	core/ctl/server.c
