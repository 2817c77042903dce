# SPDX-License-Identifier: BSD-2-Clause
# core/opensm/: OpenSM's and opa-fm's configuration: each of their keys, and what stands for it here.
CORE_SOURCES += \
	core/opensm/opafm.h \
	core/opensm/opafm_groups.c \
	core/opensm/opafm_keys.c \
	core/opensm/opafm_private.h \
	core/opensm/opafm_translate.c \
	core/opensm/opafm_vfabrics.c \
	core/opensm/opafm_xml.c \
	core/opensm/opensm.h \
	core/opensm/opensm_console.c \
	core/opensm/opensm_file.c \
	core/opensm/opensm_keys.c \
	core/opensm/opensm_options.c \
	core/opensm/opensm_private.h \
	core/opensm/opensm_translate.c
