# SPDX-License-Identifier: BSD-2-Clause
# lab/adaptive/: the adaptive routing of a simulated switch.
LAB_SOURCES += \
	lab/adaptive/adaptive.c \
	lab/adaptive/adaptive.h
