# SPDX-License-Identifier: BSD-2-Clause
# lab/fmsim/: the simulated fabric served to other programs.
LAB_SOURCES += \
	lab/fmsim/connection.c \
	lab/fmsim/console.c \
	lab/fmsim/console.h \
	lab/fmsim/server.c \
	lab/fmsim/server.h \
	lab/fmsim/server_internal.h \
	lab/fmsim/server_take.c \
	lab/fmsim/umad_client.c \
	lab/fmsim/umad_client.h \
	lab/fmsim/umad_proto.h
