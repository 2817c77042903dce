# SPDX-License-Identifier: BSD-2-Clause
# core/mad/: how MADs leave and arrive: requests and answers, the windows, umad.
CORE_SOURCES += \
	core/mad/flight.c \
	core/mad/flight.h \
	core/mad/local_ports.c \
	core/mad/local_ports.h \
	core/mad/nodes.c \
	core/mad/nodes.h \
	core/mad/request_mad.c \
	core/mad/requests.c \
	core/mad/requests.h \
	core/mad/slots.c \
	core/mad/slots.h \
	core/mad/talkers.c \
	core/mad/talkers.h \
	core/mad/transact.c \
	core/mad/transact.h \
	core/mad/transport.c \
	core/mad/transport.h \
	core/mad/umad.c \
	core/mad/umad_agent.c \
	core/mad/umad_agent.h \
	core/mad/umad_port.c \
	core/mad/umad_port.h \
	core/mad/window.c \
	core/mad/window.h
if HAVE_UMAD
endif
