# SPDX-License-Identifier: BSD-2-Clause
# core/rmpp/: answers of many packets, IBA 13.6: sender, receiver, all of a port.
CORE_SOURCES += \
	core/rmpp/rmpp.c \
	core/rmpp/rmpp.h \
	core/rmpp/rmpp_port.c \
	core/rmpp/rmpp_port.h
