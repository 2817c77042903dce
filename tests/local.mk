# SPDX-License-Identifier: BSD-2-Clause
# tests/: "make check" runs these; a Check program is listed once in UNIT_TESTS or LONG_UNIT_TESTS.
EXTRA_DIST += tests/fabrics/two-cas.net tests/fabrics/one-switch.net tests/fabrics/sm-port0.net \
	tests/fabrics/dual-port.net tests/fabrics/router.net tests/fabrics/two-components.net \
	tests/fabrics/aggregation.net tests/unit/wrong_inputs.txt

# Sanitizers are slow, and so are busy machines: Check's own time limits are for hangs only.
AM_TESTS_ENVIRONMENT = CK_DEFAULT_TIMEOUT=60 CK_TIMEOUT_MULTIPLIER=5; export CK_DEFAULT_TIMEOUT CK_TIMEOUT_MULTIPLIER;

# What programs here are made with, where nothing else is said.
AM_CFLAGS += $(CHECK_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
LDADD = $(test_libs) libfmlab.la libfmcore.la libfmcommon.la $(EVENT_LIBS) $(JANSSON_LIBS)

# make check-threaded: what .ci/run runs under ThreadSanitizer too; nothing else is built.
THREADED_TESTS = tests/unit/check_pool tests/unit/check_snapshot tests/unit/check_verify tests/unit/check_adaptive \
	tests/unit/check_metrics tests/unit/check_plan tests/engine/check_fattree tests/sweep/check_sa_threads \
	tests/sweep/check_worker tests/engine/check_weigh tests/unit/check_event_ring tests/unit/check_saver \
	tests/unit/check_copies
# THREADED_RUN= builds them and runs none.
THREADED_RUN = $(THREADED_TESTS)
.PHONY: check-threaded
check-threaded:
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS check_PROGRAMS='$(THREADED_TESTS)' \
		check_LTLIBRARIES=libfmtests.la TESTS='$(THREADED_RUN)'

# Fuzzers: the corpus of each, tests/fuzz/corpus/NAME, is a test; the fuzzer itself is
# built with configure --enable-fuzzers (clang).
# Engines as they were built for a version of the ABI, and what they were built of.
EXTRA_DIST += tests/abi/draft/frozen.so tests/abi/1.0/frozen.so tests/abi/1.0/frozen.c tests/abi/1.0/build \
	tests/abi/1.0/fmd/engine.h tests/abi/1.0/fmd/error.h
EXTRA_DIST += tests/fuzz/corpus tests/fuzz/engines.h tests/fuzz/fabric.h tests/fuzz/fuzz.h tests/fuzz/house.h \
	tests/fuzz/temp_store.h
REPLAYS = \
	tests/fuzz/replay_commands \
	tests/fuzz/replay_conf \
	tests/fuzz/replay_ctl \
	tests/fuzz/replay_descriptor \
	tests/fuzz/replay_fmsim \
	tests/fuzz/replay_image \
	tests/fuzz/replay_kept \
	tests/fuzz/replay_link \
	tests/fuzz/replay_lists \
	tests/fuzz/replay_mad \
	tests/fuzz/replay_book \
	tests/fuzz/replay_manifest \
	tests/fuzz/replay_netlist \
	tests/fuzz/replay_opafm \
	tests/fuzz/replay_paths \
	tests/fuzz/replay_plan \
	tests/fuzz/replay_policies \
	tests/fuzz/replay_rchain \
	tests/fuzz/replay_relay \
	tests/fuzz/replay_reports \
	tests/fuzz/replay_rmpp \
	tests/fuzz/replay_sa \
	tests/fuzz/replay_script \
	tests/fuzz/replay_sms \
	tests/fuzz/replay_store \
	tests/fuzz/replay_sweep \
	tests/fuzz/replay_answers \
	tests/fuzz/replay_tables \
	tests/fuzz/replay_torus \
	tests/fuzz/replay_words
check_PROGRAMS += $(REPLAYS)
tests_fuzz_replay_book_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_book.c
tests_fuzz_replay_book_LDADD = libfmperf.la $(LDADD)
tests_fuzz_replay_commands_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_commands.c
tests_fuzz_replay_conf_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_conf.c
tests_fuzz_replay_ctl_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_ctl.c
tests_fuzz_replay_descriptor_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_descriptor.c
tests_fuzz_replay_fmsim_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_fmsim.c
tests_fuzz_replay_image_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_image.c
tests_fuzz_replay_kept_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_kept.c
tests_fuzz_replay_link_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_link.c
tests_fuzz_replay_lists_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_lists.c
tests_fuzz_replay_mad_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_mad.c
tests_fuzz_replay_manifest_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_manifest.c
tests_fuzz_replay_netlist_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_netlist.c
tests_fuzz_replay_opafm_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_opafm.c
tests_fuzz_replay_paths_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_paths.c
tests_fuzz_replay_paths_LDADD = libfmhost.la
tests_fuzz_replay_plan_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_plan.c
tests_fuzz_replay_policies_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_policies.c
tests_fuzz_replay_rchain_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_rchain.c
tests_fuzz_replay_relay_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_relay.c host/agent/replica.c
tests_fuzz_replay_relay_LDADD = libfmhost.la
tests_fuzz_replay_reports_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_reports.c
tests_fuzz_replay_rmpp_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_rmpp.c
tests_fuzz_replay_sa_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_sa.c
tests_fuzz_replay_script_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_script.c
tests_fuzz_replay_sms_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_sms.c
tests_fuzz_replay_store_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_store.c
tests_fuzz_replay_answers_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_answers.c
tests_fuzz_replay_sweep_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_sweep.c
tests_fuzz_replay_tables_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_tables.c
tests_fuzz_replay_tables_LDADD = libfmengines.la $(LDADD)
tests_fuzz_replay_torus_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_torus.c
tests_fuzz_replay_torus_LDADD = libfmengines.la $(LDADD)
if HAVE_HIREDIS
REPLAYS += tests/fuzz/replay_redis
FUZZ_REDIS = tests/fuzz/fuzz_redis.c tools/fmctl_peers.c tools/fmctl_table.c host/agent/replica.c \
	host/agent/source_redis.c
tests_fuzz_replay_redis_SOURCES = tests/fuzz/replay.c $(FUZZ_REDIS)
tests_fuzz_replay_redis_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(HIREDIS_CFLAGS)
tests_fuzz_replay_redis_LDADD = libfmhost.la $(LDADD) $(JANSSON_LIBS) $(HIREDIS_LIBS)
if FUZZERS
noinst_PROGRAMS += tests/fuzz/fuzz_redis
tests_fuzz_fuzz_redis_SOURCES = $(FUZZ_REDIS)
tests_fuzz_fuzz_redis_CFLAGS = $(tests_fuzz_replay_redis_CFLAGS)
tests_fuzz_fuzz_redis_LDADD = $(tests_fuzz_replay_redis_LDADD)
tests_fuzz_fuzz_redis_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
endif
endif
if HAVE_EVHTTP
REPLAYS += tests/fuzz/replay_web
tests_fuzz_replay_web_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_web.c
tests_fuzz_replay_web_LDADD = libfmweb.la libfmperf.la $(LDADD)
if FUZZERS
noinst_PROGRAMS += tests/fuzz/fuzz_web
tests_fuzz_fuzz_web_SOURCES = tests/fuzz/fuzz_web.c
tests_fuzz_fuzz_web_LDADD = libfmweb.la libfmperf.la $(LDADD)
tests_fuzz_fuzz_web_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
endif
endif
tests_fuzz_replay_words_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz_words.c

if FUZZERS
fuzz_ldflags = $(AM_LDFLAGS) -fsanitize=fuzzer
noinst_PROGRAMS += \
	tests/fuzz/fuzz_book \
	tests/fuzz/fuzz_commands \
	tests/fuzz/fuzz_conf \
	tests/fuzz/fuzz_ctl \
	tests/fuzz/fuzz_descriptor \
	tests/fuzz/fuzz_fmsim \
	tests/fuzz/fuzz_image \
	tests/fuzz/fuzz_kept \
	tests/fuzz/fuzz_link \
	tests/fuzz/fuzz_lists \
	tests/fuzz/fuzz_mad \
	tests/fuzz/fuzz_manifest \
	tests/fuzz/fuzz_netlist \
	tests/fuzz/fuzz_opafm \
	tests/fuzz/fuzz_paths \
	tests/fuzz/fuzz_plan \
	tests/fuzz/fuzz_policies \
	tests/fuzz/fuzz_rchain \
	tests/fuzz/fuzz_relay \
	tests/fuzz/fuzz_reports \
	tests/fuzz/fuzz_rmpp \
	tests/fuzz/fuzz_sa \
	tests/fuzz/fuzz_script \
	tests/fuzz/fuzz_sms \
	tests/fuzz/fuzz_store \
	tests/fuzz/fuzz_sweep \
	tests/fuzz/fuzz_answers \
	tests/fuzz/fuzz_tables \
	tests/fuzz/fuzz_torus \
	tests/fuzz/fuzz_words
tests_fuzz_fuzz_book_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_book_LDADD = libfmperf.la $(LDADD)
tests_fuzz_fuzz_commands_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_conf_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_ctl_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_descriptor_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_fmsim_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_image_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_kept_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_link_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_lists_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_mad_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_manifest_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_netlist_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_opafm_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_paths_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_paths_LDADD = libfmhost.la
tests_fuzz_fuzz_plan_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_policies_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_rchain_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_relay_SOURCES = tests/fuzz/fuzz_relay.c host/agent/replica.c
tests_fuzz_fuzz_relay_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_relay_LDADD = libfmhost.la
tests_fuzz_fuzz_reports_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_rmpp_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_sa_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_script_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_sms_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_store_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_answers_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_sweep_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_tables_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_tables_LDADD = libfmengines.la $(LDADD)
tests_fuzz_fuzz_torus_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_fuzz_torus_LDADD = libfmengines.la $(LDADD)
tests_fuzz_fuzz_words_LDFLAGS = $(fuzz_ldflags)
endif

if HAVE_CHECK
# Check programs, a line each: a program has one source, its own name with .c.  Those that
# work longest, then all others.
LONG_UNIT_TESTS = \
	tests/sweep/check_converge \
	tests/sweep/check_locks_regions \
	tests/sweep/check_locks \
	tests/sweep/check_several_sms \
	tests/sweep/check_locks_changes \
	tests/engine/check_matrix \
	tests/engine/check_compose_losses \
	tests/engine/check_repair
UNIT_TESTS = \
	tests/engine/check_paths \
	tests/engine/check_engines \
	tests/engine/check_grid \
	tests/engine/check_alternatives \
	tests/engine/check_base_lids \
	tests/engine/check_by_cables \
	tests/engine/check_compose \
	tests/engine/check_compose_events \
	tests/engine/check_dragonfly \
	tests/engine/check_fattree \
	tests/engine/check_frozen \
	tests/engine/check_grid_find \
	tests/engine/check_apart \
	tests/engine/check_programmers \
	tests/engine/check_linger \
	tests/engine/check_ragged \
	tests/engine/check_layers \
	tests/engine/check_mcast \
	tests/engine/check_nue \
	tests/engine/check_one_by_one \
	tests/engine/check_remarks \
	tests/engine/check_weigh \
	tests/sweep/check_apply \
	tests/sweep/check_agents \
	tests/sweep/check_groups_on_wire \
	tests/sweep/check_audit \
	tests/engine/check_repair_hosts \
	tests/sweep/check_claims \
	tests/sweep/check_dist \
	tests/sweep/check_events \
	tests/sweep/check_fields \
	tests/sweep/check_flaps \
	tests/sweep/check_foreign_guid \
	tests/sweep/check_newcomers \
	tests/sweep/check_forged_answers \
	tests/sweep/check_forged_sms \
	tests/sweep/check_groups_written \
	tests/sweep/check_hostile \
	tests/sweep/check_isolate \
	tests/sweep/check_keep \
	tests/sweep/check_mend \
	tests/sweep/check_kept \
	tests/sweep/check_believed \
	tests/sweep/check_locks_restart \
	tests/sweep/check_mkeys \
	tests/sweep/check_odd_turns \
	tests/sweep/check_picture \
	tests/sweep/check_port_states \
	tests/sweep/check_pkeys \
	tests/sweep/check_readback \
	tests/sweep/check_repath \
	tests/sweep/check_reports \
	tests/sweep/check_ring \
	tests/sweep/check_sa \
	tests/sweep/check_sa_headers \
	tests/sweep/check_sa_registered \
	tests/sweep/check_sa_threads \
	tests/sweep/check_sa_trust \
	tests/sweep/check_seeds \
	tests/sweep/check_silent \
	tests/sweep/check_sweep \
	tests/sweep/check_traps \
	tests/sweep/check_turns \
	tests/sweep/check_hand_over \
	tests/sweep/check_vls \
	tests/sweep/check_wake \
	tests/sweep/check_waves \
	tests/sweep/check_worker \
	tests/unit/check_abi \
	tests/unit/check_acm_file \
	tests/unit/check_asker \
	tests/unit/check_findings \
	tests/unit/check_health \
	tests/unit/check_meaning \
	tests/unit/check_adaptive \
	tests/unit/check_compare \
	tests/unit/check_conf \
	tests/unit/check_copies \
	tests/unit/check_ctl \
	tests/unit/check_deps \
	tests/unit/check_diff \
	tests/unit/check_dump \
	tests/unit/check_event_ring \
	tests/unit/check_followers \
	tests/unit/check_generate \
	tests/unit/check_cabling \
	tests/unit/check_congestion \
	tests/unit/check_gsi \
	tests/unit/check_groups \
	tests/unit/check_ha \
	tests/unit/check_history \
	tests/unit/check_hostlist \
	tests/unit/check_host \
	tests/unit/check_reconfig \
	tests/unit/check_lib \
	tests/unit/check_link \
	tests/unit/check_lid \
	tests/unit/check_local_ports \
	tests/unit/check_metrics \
	tests/unit/check_mistakes \
	tests/unit/check_name_map \
	tests/unit/check_netlist \
	tests/unit/check_news \
	tests/unit/check_opafm \
	tests/unit/check_opafm_vfabrics \
	tests/unit/check_opensm \
	tests/unit/check_options \
	tests/unit/check_overlay \
	tests/unit/check_partitions \
	tests/unit/check_paths_file \
	tests/unit/check_plan \
	tests/unit/check_plan_file \
	tests/unit/check_plugin \
	tests/unit/check_pool \
	tests/unit/check_registry \
	tests/unit/check_relays \
	tests/unit/check_neighbours \
	tests/unit/check_replica \
	tests/unit/check_qos \
	tests/unit/check_qos_policy \
	tests/unit/check_rows \
	tests/unit/check_regions \
	tests/unit/check_rmpp \
	tests/unit/check_rchain \
	tests/unit/check_regexp \
	tests/unit/check_rivals \
	tests/unit/check_watch \
	tests/unit/check_sa_parts \
	tests/unit/check_sa_wire \
	tests/unit/check_saver \
	tests/unit/check_sim \
	tests/unit/check_sim_faults \
	tests/unit/check_silence \
	tests/unit/check_snapshot \
	tests/unit/check_switch_groups \
	tests/unit/check_store \
	tests/unit/check_transact \
	tests/unit/check_transition \
	tests/unit/check_verify \
	tests/unit/check_vfabric \
	tests/unit/check_wire
check_PROGRAMS += $(LONG_UNIT_TESTS) $(UNIT_TESTS)

# What they may need besides the core: all engines, and rigs of their own.
check_LTLIBRARIES += libfmtests.la
test_libs = libfmtests.la libfmengines.la $(CHECK_LIBS)
libfmtests_la_SOURCES = \
	tests/mark.c \
	tests/engine/slow.c tests/engine/slow.h \
	tests/sweep/locks.c \
	tests/sweep/locks_past.c \
	tests/sweep/locks_tell.c \
	tests/sweep/moments.c \
	tests/sweep/rig.c \
	tests/sweep/sa_rig.c \
	tests/sweep/storm.c \
	tests/sweep/storm_events.c \
	tests/sweep/storm_more.c \
	tests/sweep/storm_second.c \
	tests/sweep/storm_truth.c \
	tests/sweep/storm_wishes.c \
	tests/sweep/several.c \
	tests/unit/fake_transport.c tests/unit/sim_fixture.c

tests_unit_check_asker_LDADD = libfmperf.la $(LDADD)
tests_unit_check_findings_LDADD = libfmperf.la $(LDADD)
tests_unit_check_health_LDADD = libfmperf.la $(LDADD)
tests_unit_check_history_LDADD = libfmperf.la $(LDADD)
tests_unit_check_hostlist_SOURCES = tests/unit/check_hostlist.c tools/fmctl/hostlist.c
tests_unit_check_meaning_LDADD = libfmperf.la $(LDADD)
if HAVE_EVHTTP
UNIT_TESTS += tests/unit/check_web
tests_unit_check_web_SOURCES = tests/unit/check_web.c tests/unit/exposition.h
tests_unit_check_web_LDADD = libfmweb.la libfmperf.la $(LDADD)
endif
tests_sweep_check_claims_SOURCES = tests/sweep/check_claims.c host/agent/replica.c host/agent/source_files.c
tests_sweep_check_claims_LDADD = $(LDADD) libfmhost.la
tests_sweep_check_dist_SOURCES = tests/sweep/check_dist.c host/agent/replica.c host/agent/source_files.c
tests_sweep_check_dist_LDADD = $(LDADD) libfmhost.la
tests_sweep_check_dist_thread_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=pthread_create
if HAVE_HIREDIS
UNIT_TESTS += tests/sweep/check_relay tests/sweep/check_dist_thread tests/unit/check_redis
tests_unit_check_redis_CFLAGS = $(AM_CFLAGS) $(HIREDIS_CFLAGS)
tests_unit_check_redis_LDADD = $(LDADD) $(HIREDIS_LIBS)
tests_sweep_check_relay_SOURCES = tests/sweep/check_relay.c tests/sweep/fake_relay.c tests/sweep/fake_relay.h \
	host/agent/replica.c host/agent/source_redis.c core/redis/info.c core/redis/redis.c
tests_sweep_check_relay_CFLAGS = $(AM_CFLAGS) $(HIREDIS_CFLAGS)
tests_sweep_check_relay_LDADD = libfmtests.la libfmhost.la $(CHECK_LIBS) $(HIREDIS_LIBS)
endif
if HAVE_IBACM
UNIT_TESTS += tests/unit/check_acm
tests_unit_check_acm_SOURCES = tests/unit/check_acm.c tests/unit/paths_maker.c host/acm/acm.c
tests_unit_check_acm_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS)
tests_unit_check_acm_LDADD = libfmtests.la libfmhost.la $(CHECK_LIBS)
endif
tests_unit_check_acm_file_SOURCES = tests/unit/check_acm_file.c tests/unit/paths_maker.c
tests_unit_check_acm_file_LDADD = libfmtests.la libfmhost.la $(CHECK_LIBS)
tests_unit_check_paths_file_SOURCES = tests/unit/check_paths_file.c tests/unit/paths_maker.c
tests_unit_check_paths_file_LDADD = libfmtests.la libfmhost.la $(CHECK_LIBS)
tests_unit_check_relays_SOURCES = tests/unit/check_relays.c host/agent/relays.c
tests_unit_check_relays_LDADD = libfmtests.la libfmhost.la $(CHECK_LIBS)
tests_unit_check_neighbours_SOURCES = tests/unit/check_neighbours.c host/agent/interfaces.c host/agent/neighbours.c \
	host/agent/netlink.c host/agent/replica.c
tests_unit_check_neighbours_LDADD = libfmtests.la libfmhost.la $(CHECK_LIBS)
tests_unit_check_replica_SOURCES = tests/unit/check_replica.c host/agent/replica.c host/agent/source_files.c
tests_unit_check_replica_LDADD = libfmtests.la libfmhost.la $(CHECK_LIBS)
# allocations are made to fail
tests_engine_check_repair_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc,--wrap=calloc,--wrap=reallocarray
tests_unit_check_sa_wire_CFLAGS = $(AM_CFLAGS) $(IBMAD_CFLAGS)
tests_unit_check_sa_wire_LDADD = $(LDADD) $(IBMAD_LIBS)
tests_unit_check_congestion_CFLAGS = $(AM_CFLAGS) $(IBMAD_CFLAGS)
tests_unit_check_congestion_LDADD = $(LDADD) $(IBMAD_LIBS)
tests_unit_check_wire_CFLAGS = $(AM_CFLAGS) $(IBMAD_CFLAGS)
tests_unit_check_wire_LDADD = $(LDADD) $(IBMAD_LIBS)

include tests/modules/local.mk
include tests/hostile/local.mk
# Built on demand, as other benchmarks.
EXTRA_PROGRAMS += tests/bench/settle_time
tests_bench_settle_time_SOURCES = tests/bench/settle_time.c
tests_bench_settle_time_LDADD = $(LDADD)
bench_modules = tests/hostile/hostile.la
endif
EXTRA_DIST += \
	tests/folder.h \
	tests/imported.h \
	tests/run.h \
	tests/engine/breaking.h \
	tests/engine/composed.h \
	tests/engine/mcast_judge.h \
	tests/engine/met.h \
	tests/engine/oracle.h \
	tests/engine/routed.h \
	tests/sweep/locks.h \
	tests/sweep/locks_internal.h \
	tests/sweep/moments.h \
	tests/sweep/rig.h \
	tests/sweep/sa_rig.h \
	tests/sweep/storm.h \
	tests/sweep/storm_internal.h \
	tests/sweep/storm_truth.h \
	tests/sweep/several.h \
	tests/unit/box.h \
	tests/unit/brute.h \
	tests/unit/generate_words.h \
	tests/unit/paths_maker.h \
	tests/unit/pgft.h \
	tests/unit/fake_transport.h tests/unit/sim_fixture.h \
	tests/unit/wire_bits.h

# Benchmarks, built on demand by dev/bench.

EXTRA_PROGRAMS += tests/bench/floor
tests_bench_floor_SOURCES = tests/bench/floor.c
tests_bench_floor_LDADD = libfmlib.la
EXTRA_PROGRAMS += tests/bench/fattree
tests_bench_fattree_SOURCES = tests/bench/fattree.c
tests_bench_fattree_LDADD = libfmengines.la libfmlab.la libfmcore.la libfmcommon.la
EXTRA_PROGRAMS += tests/bench/judge
tests_bench_judge_SOURCES = tests/bench/judge.c tests/unit/pgft.h
tests_bench_judge_LDADD = libfmlab.la libfmcore.la
EXTRA_PROGRAMS += tests/bench/limit
tests_bench_limit_SOURCES = tests/bench/limit.c
tests_bench_limit_LDADD = libfmlab.la libfmcore.la -lm
EXTRA_PROGRAMS += tests/bench/read_time
tests_bench_read_time_SOURCES = tests/bench/read_time.c
tests_bench_read_time_LDADD = libfmlab.la libfmcore.la
if HAVE_EVHTTP
EXTRA_PROGRAMS += tests/bench/counters_file
tests_bench_counters_file_SOURCES = tests/bench/counters_file.c
tests_bench_counters_file_LDADD = libfmweb.la libfmperf.la $(LDADD)
endif
if HAVE_HIREDIS
EXTRA_PROGRAMS += tests/bench/dist_chain
tests_bench_dist_chain_SOURCES = tests/bench/dist_chain.c
tests_bench_dist_chain_CFLAGS = $(AM_CFLAGS) $(HIREDIS_CFLAGS)
tests_bench_dist_chain_LDADD = libfmcore.la $(HIREDIS_LIBS)
endif
EXTRA_PROGRAMS += tests/bench/rows
tests_bench_rows_SOURCES = tests/bench/rows.c
tests_bench_rows_LDADD = libfmengines.la libfmlab.la libfmcore.la libfmcommon.la
EXTRA_PROGRAMS += tests/bench/repair_time
tests_bench_repair_time_SOURCES = tests/bench/repair_time.c
tests_bench_repair_time_LDADD = libfmlab.la libfmcore.la libfmcommon.la
EXTRA_PROGRAMS += tests/bench/region_events
tests_bench_region_events_SOURCES = tests/bench/region_events.c
tests_bench_region_events_LDADD = libfmlab.la libfmcore.la libfmcommon.la
EXTRA_PROGRAMS += tests/bench/apart_time
tests_bench_apart_time_SOURCES = tests/bench/apart_time.c
tests_bench_apart_time_LDADD = libfmlab.la libfmcore.la libfmcommon.la
EXTRA_PROGRAMS += tests/bench/programmer_time
tests_bench_programmer_time_SOURCES = tests/bench/programmer_time.c
tests_bench_programmer_time_LDADD = libfmlab.la libfmcore.la libfmcommon.la
EXTRA_PROGRAMS += tests/bench/route_time
tests_bench_route_time_SOURCES = tests/bench/route_time.c
tests_bench_route_time_LDADD = libfmlab.la libfmcore.la libfmcommon.la
EXTRA_PROGRAMS += tests/bench/storm
tests_bench_storm_SOURCES = tests/bench/storm.c
tests_bench_storm_LDADD = libfmlab.la libfmcore.la
EXTRA_PROGRAMS += tests/bench/sa_echo
tests_bench_sa_echo_SOURCES = tests/bench/sa_echo.c
tests_bench_sa_echo_LDADD = libfmcore.la
EXTRA_PROGRAMS += tests/bench/sa_rate
tests_bench_sa_rate_SOURCES = tests/bench/sa_rate.c
tests_bench_sa_rate_LDADD = libfmengines.la libfmlab.la libfmcore.la libfmcommon.la
CLEANFILES += $(EXTRA_PROGRAMS)

# Programs of tests that benchmarks start.
bench_helpers =
if HAVE_UMAD
bench_helpers += tests/integration/sa_ask tests/integration/sa_mads
EXTRA_LTLIBRARIES += tests/bench/umad_count.la
tests_bench_umad_count_la_SOURCES = tests/bench/umad_count.c
tests_bench_umad_count_la_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS)
tests_bench_umad_count_la_LDFLAGS = $(FM_LDFLAGS) -module -avoid-version -shared -rpath /nonexistent
tests_bench_umad_count_la_LIBADD = -ldl
endif

.PHONY: bench-programs
bench-programs: $(EXTRA_PROGRAMS) $(EXTRA_LTLIBRARIES) $(bench_modules) $(bench_helpers)

# ---- programs that only scripts start
if HAVE_SECCOMP
check_PROGRAMS += tests/integration/no_landlock
tests_integration_no_landlock_SOURCES = tests/integration/no_landlock.c
tests_integration_no_landlock_CFLAGS = $(AM_CFLAGS) $(SECCOMP_CFLAGS)
tests_integration_no_landlock_LDADD = $(SECCOMP_LIBS)
endif
if HAVE_UMAD
check_PROGRAMS += tests/integration/umad_probe
tests_integration_umad_probe_SOURCES = tests/integration/umad_probe.c
tests_integration_umad_probe_LDADD = libfmlab.la libfmcore.la
check_PROGRAMS += tests/integration/pkey_probe
tests_integration_pkey_probe_SOURCES = tests/integration/pkey_probe.c
tests_integration_pkey_probe_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS)
tests_integration_pkey_probe_LDADD = $(UMAD_LIBS)
check_PROGRAMS += tests/integration/alias_guid
tests_integration_alias_guid_SOURCES = tests/integration/alias_guid.c
tests_integration_alias_guid_LDADD = libfmlab.la libfmcore.la
check_PROGRAMS += tests/integration/registering
tests_integration_registering_SOURCES = tests/integration/registering.c host/agent/replica.c host/agent/source_files.c
tests_integration_registering_LDADD = libfmlab.la libfmcore.la libfmhost.la
check_PROGRAMS += tests/integration/sa_ask
tests_integration_sa_ask_SOURCES = tests/integration/sa_ask.c
tests_integration_sa_ask_LDADD = libfmlab.la libfmcore.la
check_PROGRAMS += tests/integration/overwrite
tests_integration_overwrite_SOURCES = tests/integration/overwrite.c
tests_integration_overwrite_LDADD = libfmlab.la libfmcore.la
check_PROGRAMS += tests/integration/sa_mads
tests_integration_sa_mads_SOURCES = tests/integration/sa_mads.c
tests_integration_sa_mads_LDADD = libfmlab.la libfmcore.la libfmcommon.la
endif
# ibacm and librdmacm without hardware; ask both for paths
if HAVE_RDMACM
check_LTLIBRARIES += tests/integration/verbs_shim.la
tests_integration_verbs_shim_la_SOURCES = tests/integration/verbs_shim.c
tests_integration_verbs_shim_la_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS)
tests_integration_verbs_shim_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_integration_verbs_shim_la_LIBADD = $(UMAD_LIBS)
check_PROGRAMS += tests/integration/acm_probe
tests_integration_acm_probe_SOURCES = tests/integration/acm_probe.c tests/unit/paths_maker.c
tests_integration_acm_probe_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS)
tests_integration_acm_probe_LDADD = libfmhost.la libfmlab.la libfmcore.la $(UMAD_LIBS) -lrdmacm
endif
# fmd that can be stopped dead anywhere, for kill_points.sh.
check_PROGRAMS += tests/integration/fmd_killable
tests_integration_fmd_killable_SOURCES = tools/fmd.c tests/integration/kill_points.c
tests_integration_fmd_killable_LDADD = libfmlab.la libfmcore.la

# ---- scripts, a line each; exit 77: what they need is absent
TEST_EXTENSIONS = .sh
SH_LOG_COMPILER = timeout --foreground --kill-after=10 600 bash
# They start many programs, half a minute each and more.  Without them, as under sanitizers:
# make check LONG_SCRIPT_TESTS=
LONG_SCRIPT_TESTS = \
	tests/integration/kill_points.sh \
	tests/integration/ibsim_opensm_conf.sh \
	tests/integration/claims.sh \
	tests/integration/dist_peers.sh \
	tests/integration/ibsim_fabrics.sh \
	tests/integration/dist_pair.sh \
	tests/integration/auto.sh \
	tests/integration/ibsim_standby.sh \
	tests/integration/fmsim_copy.sh \
	tests/integration/fmsim_stunnel.sh \
	tests/integration/handover.sh \
	tests/integration/fmsim_opensm.sh \
	tests/integration/fmsim_page.sh \
	tests/integration/fmsim_opensm_conf.sh
SCRIPT_TESTS = \
	tests/integration/ibsim_faults.sh \
	tests/integration/ibsim_storms.sh \
	tests/integration/bad_input.sh \
	tests/integration/fmsim_sa_wire.sh \
	tests/integration/ibsim_sa.sh \
	tests/integration/acm.sh \
	tests/integration/acm_agent.sh \
	tests/integration/chains.sh \
	tests/integration/dev_run.sh \
	tests/integration/dist.sh \
	tests/integration/dist_below.sh \
	tests/integration/dist_nearest.sh \
	tests/integration/dist_other_sm.sh \
	tests/integration/dist_refused.sh \
	tests/integration/dist_registered.sh \
	tests/integration/dist_relay.sh \
	tests/integration/dist_trouble.sh \
	tests/integration/dist_verify.sh \
	tests/integration/documents.sh \
	tests/integration/engine_check.sh \
	tests/integration/fmroute.sh \
	tests/integration/topo.sh \
	tests/integration/examples.sh \
	tests/integration/fmctl.sh \
	tests/integration/fabric.sh \
	tests/integration/isolate.sh \
	tests/integration/fmsim_busiest.sh \
	tests/integration/fmsim_weigh.sh \
	tests/integration/fmsim_counters.sh \
	tests/integration/fmsim_flaps.sh \
	tests/integration/fmsim_guid.sh \
	tests/integration/fmsim_health.sh \
	tests/integration/fmsim_second_port.sh \
	tests/integration/fmsim_keys.sh \
	tests/integration/fmsim_partitions.sh \
	tests/integration/fmsim_vfabrics.sh \
	tests/integration/fmsim_paths.sh \
	tests/integration/fmsim_registered.sh \
	tests/integration/fmsim_restart.sh \
	tests/integration/fmsim_audit.sh \
	tests/integration/fmsim_adaptive.sh \
	tests/integration/fmsim_congestion.sh \
	tests/integration/fmsim_trouble.sh \
	tests/integration/fmsim_events.sh \
	tests/integration/fmsim_names.sh \
	tests/integration/fmsim_slurm.sh \
	tests/integration/fmsim_topology.sh \
	tests/integration/fmsim_perf.sh \
	tests/integration/fmsim_port_states.sh \
	tests/integration/fmsim_web.sh \
	tests/integration/page_units.sh \
	tests/integration/fmsim_tools.sh \
	tests/integration/curious_engines.sh \
	tests/integration/hostile_engines.sh \
	tests/integration/ibsim_multicast.sh \
	tests/integration/ibsim_opensm.sh \
	tests/integration/ibsim_partitions.sh \
	tests/integration/ibsim_up.sh \
	tests/integration/intree.sh \
	tests/integration/outoftree.sh \
	tests/integration/packages.sh \
	tests/integration/log_file.sh \
	tests/integration/regions.sh \
	tests/integration/regions_events.sh \
	tests/integration/reload.sh \
	tests/integration/hardening.sh \
	tests/integration/service.sh \
	tests/integration/time_limit.sh \
	tests/integration/umad_ibsim.sh \
	tests/integration/upgrade.sh \
	tests/integration/what_if.sh
EXTRA_DIST += $(LONG_SCRIPT_TESTS) $(SCRIPT_TESTS) \
	dev/fmsim-lib.sh \
	dev/ibsim-lib.sh dev/packages \
	tests/integration/acm.bash \
	tests/integration/dist.bash \
	tests/integration/fmroute.bash \
	tests/integration/fmsim.bash \
	tests/integration/fmsim_nonsense.py \
	tests/integration/fmctl_answers.py \
	tests/integration/fabric_equal.py \
	tests/integration/garble.py \
	tests/integration/alerts.yml \
	tests/integration/web_visitors.py \
	tests/page/all_lids.py tests/page/browser.mjs tests/page/first.mjs tests/page/lost.mjs tests/page/look.mjs \
	tests/integration/lib.bash \
	tests/integration/sa_differences.py \
	tests/integration/opensm_conf.bash \
	tests/opafm/opafm.xml tests/opafm/vfabrics-default.xml tests/opafm/vfabrics-psm.xml \
	tests/opafm/vfabrics-shares.xml tests/opafm/vfabrics-tenants.xml \
	tests/opensm/fattree.conf tests/opensm/partitions.conf tests/opensm/partitions.keys \
	tests/opensm/partitions.map tests/opensm/qos.conf tests/opensm/qos.policy tests/opensm/torus.conf \
	tests/opensm/torus.policy tests/opensm/updn.conf \
	tests/integration/script.bash \
	tests/integration/claims.py \
	tests/integration/miscable.py \
	tests/integration/walk_tables.py \
	tests/store/0.1.0.tar.xz tests/store/make tests/store/net

# They run side by side, in this order: what takes longest begins first.
TESTS += $(LONG_UNIT_TESTS) $(LONG_SCRIPT_TESTS) $(SCRIPT_TESTS) $(UNIT_TESTS) $(REPLAYS)
