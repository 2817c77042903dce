# SPDX-License-Identifier: BSD-2-Clause
# lab/cca/: the congestion control agent of a simulated node.
LAB_SOURCES += \
	lab/cca/cca.c \
	lab/cca/cca.h
