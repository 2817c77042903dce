# SPDX-License-Identifier: BSD-2-Clause
# tests/: "make check" runs these; a Check program tests/unit/check_X.c is
# listed once in UNIT_TESTS and has its sources beside it.
EXTRA_DIST += tests/fabrics/two-cas.net tests/fabrics/one-switch.net tests/fabrics/sm-port0.net \
	tests/fabrics/dual-port.net tests/fabrics/router.net tests/fabrics/two-components.net \
	tests/fabrics/aggregation.net

EXTRA_DIST += tests/run.h

# Sanitizers are slow: Check's own time limit is for hangs only.
AM_TESTS_ENVIRONMENT = CK_DEFAULT_TIMEOUT=300; export CK_DEFAULT_TIMEOUT;

# What .ci/run runs under ThreadSanitizer too.
THREADED_TESTS = tests/unit/check_pool tests/unit/check_snapshot tests/unit/check_verify tests/unit/check_adaptive \
	tests/unit/check_metrics tests/unit/check_plan tests/engine/check_fattree tests/sweep/check_worker

# Fuzzers: the corpus of each is a test; the fuzzer itself is built with
# configure --enable-fuzzers (clang).
EXTRA_DIST += tests/fuzz/corpus tests/fuzz/fuzz.h
check_PROGRAMS += $(REPLAYS)
TESTS += $(REPLAYS)
if FUZZERS
noinst_PROGRAMS += tests/fuzz/fuzz_netlist tests/fuzz/fuzz_mad tests/fuzz/fuzz_conf tests/fuzz/fuzz_tables \
	tests/fuzz/fuzz_ctl tests/fuzz/fuzz_sweep
endif
REPLAYS = tests/fuzz/replay_netlist tests/fuzz/replay_mad tests/fuzz/replay_conf tests/fuzz/replay_tables \
	tests/fuzz/replay_ctl tests/fuzz/replay_sweep
fuzz_cflags = $(AM_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
fuzz_ldadd = libfmcore.la libfmcommon.la $(EVENT_LIBS) $(JANSSON_LIBS)

tests_fuzz_replay_netlist_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_netlist.c
tests_fuzz_replay_netlist_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CORPUS='"tests/fuzz/corpus/netlist"'
tests_fuzz_replay_netlist_CFLAGS = $(fuzz_cflags)
tests_fuzz_replay_netlist_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_netlist_SOURCES = tests/fuzz/fuzz_netlist.c
tests_fuzz_fuzz_netlist_CFLAGS = $(fuzz_cflags)
tests_fuzz_fuzz_netlist_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_netlist_LDADD = $(fuzz_ldadd)

tests_fuzz_replay_mad_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_mad.c
tests_fuzz_replay_mad_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CORPUS='"tests/fuzz/corpus/mad"'
tests_fuzz_replay_mad_CFLAGS = $(fuzz_cflags)
tests_fuzz_replay_mad_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_mad_SOURCES = tests/fuzz/fuzz_mad.c
tests_fuzz_fuzz_mad_CFLAGS = $(fuzz_cflags)
tests_fuzz_fuzz_mad_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_mad_LDADD = $(fuzz_ldadd)

tests_fuzz_replay_conf_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_conf.c
tests_fuzz_replay_conf_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CORPUS='"tests/fuzz/corpus/conf"'
tests_fuzz_replay_conf_CFLAGS = $(fuzz_cflags)
tests_fuzz_replay_conf_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_conf_SOURCES = tests/fuzz/fuzz_conf.c
tests_fuzz_fuzz_conf_CFLAGS = $(fuzz_cflags)
tests_fuzz_fuzz_conf_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_conf_LDADD = $(fuzz_ldadd)

tests_fuzz_replay_tables_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_tables.c
tests_fuzz_replay_tables_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CORPUS='"tests/fuzz/corpus/tables"'
tests_fuzz_replay_tables_CFLAGS = $(fuzz_cflags)
tests_fuzz_replay_tables_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_tables_SOURCES = tests/fuzz/fuzz_tables.c
tests_fuzz_fuzz_tables_CFLAGS = $(fuzz_cflags)
tests_fuzz_fuzz_tables_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_tables_LDADD = $(fuzz_ldadd)

tests_fuzz_replay_ctl_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_ctl.c
tests_fuzz_replay_ctl_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CORPUS='"tests/fuzz/corpus/ctl"'
tests_fuzz_replay_ctl_CFLAGS = $(fuzz_cflags)
tests_fuzz_replay_ctl_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_ctl_SOURCES = tests/fuzz/fuzz_ctl.c
tests_fuzz_fuzz_ctl_CFLAGS = $(fuzz_cflags)
tests_fuzz_fuzz_ctl_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_ctl_LDADD = $(fuzz_ldadd)

tests_fuzz_replay_sweep_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_sweep.c
tests_fuzz_replay_sweep_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CORPUS='"tests/fuzz/corpus/sweep"'
tests_fuzz_replay_sweep_CFLAGS = $(fuzz_cflags)
tests_fuzz_replay_sweep_LDADD = $(fuzz_ldadd)
tests_fuzz_fuzz_sweep_SOURCES = tests/fuzz/fuzz_sweep.c
tests_fuzz_fuzz_sweep_CFLAGS = $(fuzz_cflags)
tests_fuzz_fuzz_sweep_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_sweep_LDADD = $(fuzz_ldadd)

if HAVE_CHECK
UNIT_TESTS =

# Each test, one block:
#	UNIT_TESTS += tests/unit/check_X
#	tests_unit_check_X_SOURCES = tests/unit/check_X.c
#	tests_unit_check_X_CFLAGS = $(unit_cflags)
#	tests_unit_check_X_LDADD = $(unit_ldadd)
unit_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS)
unit_ldadd = libfmcore.la libfmcommon.la $(CHECK_LIBS)

UNIT_TESTS += tests/unit/check_wire
tests_unit_check_wire_SOURCES = tests/unit/check_wire.c
tests_unit_check_wire_CFLAGS = $(unit_cflags) $(IBMAD_CFLAGS)
tests_unit_check_wire_LDADD = $(unit_ldadd) $(IBMAD_LIBS)

UNIT_TESTS += tests/unit/check_lib
tests_unit_check_lib_SOURCES = tests/unit/check_lib.c
tests_unit_check_lib_CFLAGS = $(unit_cflags)
tests_unit_check_lib_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/unit/check_pool
tests_unit_check_pool_SOURCES = tests/unit/check_pool.c
tests_unit_check_pool_CFLAGS = $(unit_cflags)
tests_unit_check_pool_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/unit/check_snapshot
tests_unit_check_snapshot_SOURCES = tests/unit/check_snapshot.c
tests_unit_check_snapshot_CFLAGS = $(unit_cflags)
tests_unit_check_snapshot_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/unit/check_netlist
tests_unit_check_netlist_SOURCES = tests/unit/check_netlist.c tests/unit/generate_words.h
tests_unit_check_netlist_CFLAGS = $(unit_cflags)
tests_unit_check_netlist_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/unit/check_lid
tests_unit_check_lid_SOURCES = tests/unit/check_lid.c
tests_unit_check_lid_CFLAGS = $(unit_cflags)
tests_unit_check_lid_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/unit/check_dump
tests_unit_check_dump_SOURCES = tests/unit/check_dump.c tests/unit/generate_words.h
tests_unit_check_dump_CFLAGS = $(unit_cflags)
tests_unit_check_dump_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/unit/check_generate
tests_unit_check_generate_SOURCES = tests/unit/check_generate.c tests/unit/generate_words.h
tests_unit_check_generate_CFLAGS = $(unit_cflags)
tests_unit_check_generate_LDADD = $(unit_ldadd)
include tests/modules/local.mk

UNIT_TESTS += tests/unit/check_plugin
tests_unit_check_plugin_SOURCES = tests/unit/check_plugin.c
tests_unit_check_plugin_CFLAGS = $(unit_cflags)
tests_unit_check_plugin_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/unit/check_abi
tests_unit_check_abi_SOURCES = tests/unit/check_abi.c
tests_unit_check_abi_CFLAGS = $(unit_cflags)
tests_unit_check_abi_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/unit/check_metrics
tests_unit_check_metrics_SOURCES = tests/unit/check_metrics.c tests/unit/pgft.h
tests_unit_check_metrics_CFLAGS = $(unit_cflags)
tests_unit_check_metrics_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/unit/check_verify
tests_unit_check_verify_SOURCES = tests/unit/check_verify.c tests/unit/box.h tests/unit/brute.h
tests_unit_check_verify_CFLAGS = $(unit_cflags)
tests_unit_check_verify_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/unit/check_adaptive
tests_unit_check_adaptive_SOURCES = tests/unit/check_adaptive.c tests/unit/box.h tests/unit/brute.h
tests_unit_check_adaptive_CFLAGS = $(unit_cflags)
tests_unit_check_adaptive_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/unit/check_transact
tests_unit_check_transact_SOURCES = tests/unit/check_transact.c
tests_unit_check_transact_CFLAGS = $(unit_cflags)
tests_unit_check_transact_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/unit/check_conf
tests_unit_check_conf_SOURCES = tests/unit/check_conf.c
tests_unit_check_conf_CFLAGS = $(unit_cflags)
tests_unit_check_conf_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/unit/check_options
tests_unit_check_options_SOURCES = tests/unit/check_options.c
tests_unit_check_options_CFLAGS = $(unit_cflags)
tests_unit_check_options_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/unit/check_ctl
tests_unit_check_ctl_SOURCES = tests/unit/check_ctl.c
tests_unit_check_ctl_CFLAGS = $(unit_cflags) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_check_ctl_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/unit/check_plan
tests_unit_check_plan_SOURCES = tests/unit/check_plan.c
tests_unit_check_plan_CFLAGS = $(unit_cflags)
tests_unit_check_plan_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/unit/check_sim
tests_unit_check_sim_SOURCES = tests/unit/check_sim.c \
	tests/unit/sim_fixture.c tests/unit/sim_fixture.h
tests_unit_check_sim_CFLAGS = $(unit_cflags)
tests_unit_check_sim_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/unit/check_sim_faults
tests_unit_check_sim_faults_SOURCES = tests/unit/check_sim_faults.c \
	tests/unit/sim_fixture.c tests/unit/sim_fixture.h
tests_unit_check_sim_faults_CFLAGS = $(unit_cflags)
tests_unit_check_sim_faults_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/engine/check_fattree
tests_engine_check_fattree_SOURCES = tests/engine/check_fattree.c \
	tests/unit/generate_words.h $(fattree_sources)
tests_engine_check_fattree_CFLAGS = $(unit_cflags)
tests_engine_check_fattree_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/engine/check_grid_find
tests_engine_check_grid_find_SOURCES = tests/engine/check_grid_find.c tests/unit/generate_words.h
tests_engine_check_grid_find_CFLAGS = $(unit_cflags)
tests_engine_check_grid_find_LDADD = $(unit_ldadd)
UNIT_TESTS += tests/engine/check_dragonfly
tests_engine_check_dragonfly_SOURCES = tests/engine/check_dragonfly.c \
	tests/unit/generate_words.h $(dragonfly_sources)
tests_engine_check_dragonfly_CFLAGS = $(unit_cflags)
tests_engine_check_dragonfly_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/engine/check_grid
tests_engine_check_grid_SOURCES = tests/engine/check_grid.c tests/engine/oracle.h tests/unit/generate_words.h \
	$(torus2qos_sources) plugins/engines/dor/dor.c plugins/engines/hyperx/hyperx.c
tests_engine_check_grid_CFLAGS = $(unit_cflags)
tests_engine_check_grid_LDADD = $(unit_ldadd)

include tests/sweep/local.mk

UNIT_TESTS += tests/engine/check_paths
tests_engine_check_paths_SOURCES = tests/engine/check_paths.c tests/engine/oracle.h tests/engine/routed.h \
	tests/unit/generate_words.h \
	plugins/engines/minhop/minhop.c plugins/engines/updn/updn.c plugins/engines/dnup/dnup.c \
	plugins/engines/shortestpath/shortestpath.c \
	plugins/engines/dgshortestpath/dgshortestpath.c $(fattree_sources)
tests_engine_check_paths_CFLAGS = $(unit_cflags)
tests_engine_check_paths_LDADD = $(unit_ldadd)
UNIT_TESTS += tests/unit/check_plan_file
tests_unit_check_plan_file_SOURCES = tests/unit/check_plan_file.c tests/unit/generate_words.h
tests_unit_check_plan_file_CFLAGS = $(unit_cflags)
tests_unit_check_plan_file_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/engine/check_engines
tests_engine_check_engines_SOURCES = tests/engine/check_engines.c \
	plugins/engines/minhop/minhop.c plugins/engines/updn/updn.c
tests_engine_check_engines_CFLAGS = $(unit_cflags)
tests_engine_check_engines_LDADD = $(unit_ldadd)

UNIT_TESTS += tests/engine/check_layers
tests_engine_check_layers_SOURCES = tests/engine/check_layers.c tests/unit/generate_words.h \
	plugins/engines/sssp/sssp.c plugins/engines/dfsssp/dfsssp.c plugins/engines/lash/lash.c
tests_engine_check_layers_CFLAGS = $(unit_cflags)
tests_engine_check_layers_LDADD = $(unit_ldadd)

# Every engine that is built, through the loader; FMD_MATRIX=long is for dev/bench.
UNIT_TESTS += tests/engine/check_matrix
tests_engine_check_matrix_SOURCES = tests/engine/check_matrix.c tests/unit/generate_words.h
tests_engine_check_matrix_CFLAGS = $(unit_cflags)
tests_engine_check_matrix_LDADD = $(unit_ldadd)
UNIT_TESTS += tests/engine/check_nue
tests_engine_check_nue_SOURCES = tests/engine/check_nue.c \
	tests/unit/generate_words.h plugins/engines/minhop/minhop.c plugins/engines/updn/updn.c \
	$(nue_sources)
tests_engine_check_nue_CFLAGS = $(unit_cflags)
tests_engine_check_nue_LDADD = $(unit_ldadd)
UNIT_TESTS += tests/engine/check_alternatives
tests_engine_check_alternatives_SOURCES = tests/engine/check_alternatives.c \
	plugins/engines/minhop/minhop.c plugins/engines/updn/updn.c plugins/engines/dnup/dnup.c \
	$(fattree_sources) $(dragonfly_sources)
tests_engine_check_alternatives_CFLAGS = $(unit_cflags)
tests_engine_check_alternatives_LDADD = $(unit_ldadd)

check_PROGRAMS += $(UNIT_TESTS)
TESTS += $(UNIT_TESTS)
endif

# Benchmarks, built on demand by dev/bench.

EXTRA_PROGRAMS += tests/bench/floor
tests_bench_floor_SOURCES = tests/bench/floor.c
tests_bench_floor_LDADD = libfmlib.la
EXTRA_PROGRAMS += tests/bench/fattree
tests_bench_fattree_SOURCES = tests/bench/fattree.c $(fattree_sources)
tests_bench_fattree_CFLAGS = $(AM_CFLAGS)
tests_bench_fattree_LDADD = libfmcore.la libfmcommon.la
EXTRA_PROGRAMS += tests/bench/judge
tests_bench_judge_SOURCES = tests/bench/judge.c tests/unit/pgft.h
tests_bench_judge_LDADD = libfmcore.la
EXTRA_PROGRAMS += tests/bench/route_time
tests_bench_route_time_SOURCES = tests/bench/route_time.c
tests_bench_route_time_LDADD = libfmcore.la libfmcommon.la
CLEANFILES += $(EXTRA_PROGRAMS)

if HAVE_UMAD
EXTRA_LTLIBRARIES += tests/bench/umad_count.la
tests_bench_umad_count_la_SOURCES = tests/bench/umad_count.c
tests_bench_umad_count_la_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS)
tests_bench_umad_count_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nonexistent
tests_bench_umad_count_la_LIBADD = -ldl
endif

.PHONY: bench-programs
bench-programs: $(EXTRA_PROGRAMS) $(EXTRA_LTLIBRARIES)

# ---- on ibsim (exit 77 where it is absent)
if HAVE_UMAD
check_PROGRAMS += tests/integration/umad_probe
tests_integration_umad_probe_SOURCES = tests/integration/umad_probe.c
tests_integration_umad_probe_LDADD = libfmcore.la
TESTS += tests/integration/umad_ibsim.sh
endif
EXTRA_DIST += tests/integration/umad_ibsim.sh

# ---- engines from the outside
TESTS += tests/integration/engine_check.sh tests/integration/outoftree.sh tests/integration/time_limit.sh
EXTRA_DIST += tests/integration/engine_check.sh tests/integration/outoftree.sh tests/integration/time_limit.sh
TESTS += tests/integration/documents.sh tests/integration/fmroute.sh tests/integration/auto.sh
EXTRA_DIST += tests/integration/documents.sh tests/integration/fmroute.sh tests/integration/auto.sh

# By dev/test only, for their length.
EXTRA_DIST += tests/integration/lib.bash tests/integration/walk_tables.py \
	tests/integration/ibsim_fabrics.sh tests/integration/ibsim_faults.sh \
	tests/integration/bad_input.sh tests/integration/garble.py \
	tests/integration/ibsim_standby.sh
