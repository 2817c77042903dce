# SPDX-License-Identifier: BSD-2-Clause
# core/abi/: our side of include/fmd: option rows to values, descriptors checked, the services of a host.
CORE_SOURCES += \
	core/abi/host.c \
	core/abi/host.h \
	core/abi/option_parse.c \
	core/abi/option_value.h \
	core/abi/options.c \
	core/abi/options.h \
	core/abi/plugin_check.c \
	core/abi/plugin_check.h \
	core/abi/plugin_file.c \
	core/abi/vendor_check.c \
	core/abi/watch.c \
	core/abi/watch.h
