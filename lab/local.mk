# SPDX-License-Identifier: BSD-2-Clause
# lab/: libfmlab, what planners, tests and fmsim need and the core does not.
LAB_SOURCES =
include lab/topo/local.mk
include lab/judge/local.mk
include lab/adaptive/local.mk
include lab/cca/local.mk
include lab/sim/local.mk
include lab/hosts/local.mk
include lab/fmsim/local.mk

noinst_LTLIBRARIES += libfmlab.la
libfmlab_la_SOURCES = $(LAB_SOURCES)
libfmlab_la_CFLAGS = $(libfmcore_la_CFLAGS)
