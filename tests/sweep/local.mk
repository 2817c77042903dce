# SPDX-License-Identifier: BSD-2-Clause
# tests/sweep/: the sweep on simulated fabrics.
UNIT_TESTS += tests/sweep/check_sweep
tests_sweep_check_sweep_SOURCES = tests/sweep/check_sweep.c tests/sweep/rig.c tests/sweep/rig.h
tests_sweep_check_sweep_CFLAGS = $(unit_cflags)
tests_sweep_check_sweep_LDADD = $(unit_ldadd)
