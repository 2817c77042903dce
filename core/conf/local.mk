# SPDX-License-Identifier: BSD-2-Clause
# core/conf/: files and the command line to struct conf; help and man pages from the same rows.
CORE_SOURCES += \
	core/conf/cli.c \
	core/conf/cli.h \
	core/conf/conf.c \
	core/conf/conf.h \
	core/conf/conf_chain.c \
	core/conf/conf_daemon.c \
	core/conf/conf_entry.c \
	core/conf/conf_import.c \
	core/conf/conf_import.h \
	core/conf/conf_keys.c \
	core/conf/conf_opafm.c \
	core/conf/conf_opensm.c \
	core/conf/conf_opensm.h \
	core/conf/conf_parse.c \
	core/conf/conf_policies.c \
	core/conf/conf_ports.c \
	core/conf/conf_private.c \
	core/conf/conf_private.h \
	core/conf/conf_regions.c \
	core/conf/conf_rows.c \
	core/conf/conf_scan.c \
	core/conf/conf_steps.c \
	core/conf/describe.c \
	core/conf/describe.h \
	core/conf/parts.h
