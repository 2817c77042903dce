# SPDX-License-Identifier: BSD-2-Clause
# core/opensm/: OpenSM's configuration: each of its keys, and what stands for it here.
CORE_SOURCES += \
	core/opensm/opensm.h \
	core/opensm/opensm_file.c \
	core/opensm/opensm_keys.c \
	core/opensm/opensm_options.c \
	core/opensm/opensm_private.h \
	core/opensm/opensm_translate.c
