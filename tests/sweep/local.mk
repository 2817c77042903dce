# SPDX-License-Identifier: BSD-2-Clause
# tests/sweep/: the sweep on simulated fabrics.
UNIT_TESTS += tests/sweep/check_sweep
tests_sweep_check_sweep_SOURCES = tests/sweep/check_sweep.c tests/sweep/rig.c tests/sweep/rig.h
tests_sweep_check_sweep_CFLAGS = $(unit_cflags)
tests_sweep_check_sweep_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/sweep/check_seeds
tests_sweep_check_seeds_SOURCES = tests/sweep/check_seeds.c tests/sweep/rig.c tests/sweep/rig.h
tests_sweep_check_seeds_CFLAGS = $(unit_cflags)
tests_sweep_check_seeds_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/sweep/check_worker
tests_sweep_check_worker_SOURCES = tests/sweep/check_worker.c tests/sweep/rig.c tests/sweep/rig.h
tests_sweep_check_worker_CFLAGS = $(unit_cflags)
tests_sweep_check_worker_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/sweep/check_vls
tests_sweep_check_vls_SOURCES = tests/sweep/check_vls.c tests/sweep/rig.c tests/sweep/rig.h
tests_sweep_check_vls_CFLAGS = $(unit_cflags)
tests_sweep_check_vls_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/unit/check_ha
tests_unit_check_ha_SOURCES = tests/unit/check_ha.c
tests_unit_check_ha_CFLAGS = $(unit_cflags)
tests_unit_check_ha_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/unit/check_store
tests_unit_check_store_SOURCES = tests/unit/check_store.c
tests_unit_check_store_CFLAGS = $(unit_cflags)
tests_unit_check_store_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/sweep/check_fields
tests_sweep_check_fields_SOURCES = tests/sweep/check_fields.c tests/sweep/rig.c tests/sweep/rig.h
tests_sweep_check_fields_CFLAGS = $(unit_cflags)
tests_sweep_check_fields_LDADD = $(unit_ldadd)

if HAVE_UMAD
TESTS += tests/integration/ibsim_up.sh tests/integration/ibsim_opensm.sh
endif
EXTRA_DIST += tests/integration/ibsim_up.sh tests/integration/ibsim_opensm.sh dev/ibsim-lib.sh

UNIT_TESTS += tests/sweep/check_keep
tests_sweep_check_keep_SOURCES = tests/sweep/check_keep.c tests/sweep/rig.c tests/sweep/rig.h
tests_sweep_check_keep_CFLAGS = $(unit_cflags)
tests_sweep_check_keep_LDADD = $(unit_ldadd)
