# SPDX-License-Identifier: BSD-2-Clause
# core/mad/: wire formats, transactions, transports.
CORE_SOURCES += \
	core/mad/flight.c core/mad/flight.h \
	core/mad/nodes.c core/mad/nodes.h core/mad/request_mad.c core/mad/requests.c core/mad/requests.h \
	core/mad/rmpp.c core/mad/rmpp.h core/mad/rmpp_port.c core/mad/rmpp_port.h \
	core/mad/slots.c core/mad/slots.h core/mad/talkers.c core/mad/talkers.h \
	core/mad/transact.c core/mad/transact.h core/mad/transport.c core/mad/transport.h \
	core/mad/umad.c core/mad/umad_agent.c core/mad/umad_agent.h core/mad/umad_port.h \
	core/mad/sa_wire.c core/mad/sa_wire.h core/mad/sm_proof.c core/mad/sm_proof.h \
	core/mad/window.c core/mad/window.h core/mad/wire.c core/mad/wire.h core/mad/wire_rows.h
if HAVE_UMAD
CORE_SOURCES += core/mad/umad_port.c
endif
