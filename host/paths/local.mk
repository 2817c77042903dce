# SPDX-License-Identifier: BSD-2-Clause
# host/paths/: the file of a host in which the paths from its ports are looked up.
HOST_SOURCES += \
	host/paths/paths.c \
	host/paths/paths.h
