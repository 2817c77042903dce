# SPDX-License-Identifier: BSD-2-Clause
# core/sms/: other subnet managers: who rules, what they ask and command.
CORE_SOURCES += \
	core/sms/hand_over.c \
	core/sms/internal.h \
	core/sms/other_sms.c \
	core/sms/own_port.c \
	core/sms/sm_ask_back.c \
	core/sms/sm_control.c \
	core/sms/sm_wait.c \
	core/sms/sms.c \
	core/sms/sms.h \
	core/sms/take_over.c
