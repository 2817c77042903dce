# SPDX-License-Identifier: BSD-2-Clause
# core/agents/: congestion control agents of nodes, read and set while no sweep runs.
CORE_SOURCES += \
	core/agents/agent.c \
	core/agents/agent.h \
	core/agents/agents.c \
	core/agents/agents.h
