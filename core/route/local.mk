# SPDX-License-Identifier: BSD-2-Clause
# core/route/: snapshots, tables, chains, verification, metrics.
CORE_SOURCES += \
	core/route/auto.c core/route/auto.h \
	core/route/adaptive.c core/route/adaptive.h \
	core/route/compose.c core/route/compose.h \
	core/route/compose_before.c \
	core/route/compose_begin.c \
	core/route/compose_core.c \
	core/route/compose_crowding.c \
	core/route/compose_engines.c \
	core/route/compose_gateways.c \
	core/route/compose_homes.c \
	core/route/compose_internal.h \
	core/route/compose_islands.c \
	core/route/compose_merge.c \
	core/route/compose_order.c \
	core/route/compose_pieces.c \
	core/route/compose_planes.c \
	core/route/compose_sls.c \
	core/route/compose_tell.c \
	core/route/compose_unite.c \
	core/route/compose_view.c \
	core/route/cable_order.c core/route/cable_order.h \
	core/route/compare.c core/route/compare.h \
	core/route/compare_internal.h \
	core/route/compare_pairs.c \
	core/route/deps.c core/route/deps.h core/route/deps_changed.c \
	core/route/depend.c core/route/depend.h \
	core/route/depend_follow.c core/route/depend_ports.c core/route/depend_sweep.c \
	core/route/fallback.c core/route/fallback.h \
	core/route/graft.c core/route/graft.h \
	core/route/graph_diff.c core/route/graph_diff.h \
	core/route/host.c core/route/host.h \
	core/route/keep.c core/route/keep.h \
	core/route/ladder.c core/route/ladder.h core/route/ladder_internal.h core/route/ladder_counts.c core/route/ladder_local.c core/route/ladder_rest.c core/route/ladder_steps.c \
	core/route/ladder_anew.c core/route/ladder_resume.c \
	core/route/levels.c core/route/levels.h \
	core/route/linger.c core/route/linger.h \
	core/route/levels_internal.h \
	core/route/metrics.c core/route/metrics.h core/route/metrics_ebb.c \
	core/route/metrics_internal.h core/route/metrics_shift.c \
	core/route/gauge.c core/route/gauge.h core/route/gauge_walk.c \
	core/route/mcast_tree.c core/route/mcast_tree.h \
	core/route/mcast.h core/route/mcast_check.c core/route/mcast_internal.h core/route/mcast_judge.c core/route/mcast_make.c core/route/mcast_net.c core/route/mcast_net.h core/route/mcast_trees.c core/route/mcast_write.c core/route/mcast_write.h \
	core/route/mft_rows.c core/route/mft_rows.h \
	core/route/odd_graph.c \
	core/route/ordered.c core/route/ordered.h \
	core/route/plan.c core/route/plan_before.c core/route/plan_before.h core/route/plan_sls.c core/route/plan.h core/route/plan_file.c core/route/plan_file.h \
	core/route/plan_file_internal.h core/route/plan_file_load.c \
	core/route/plan_file_regions.c core/route/plan_file_regions.h \
	core/route/promise.c core/route/promise.h \
	core/route/renumber.c core/route/renumber.h \
	core/route/repair.c core/route/repair.h core/route/repair_internal.h \
	core/route/repair_back.c core/route/repair_choice.c core/route/repair_columns.c \
	core/route/repair_engine.c core/route/repair_event.c \
	core/route/repair_idle.c core/route/repair_lid.c core/route/repair_move.c \
	core/route/repair_ports.c core/route/repair_shards.c core/route/repair_state.c \
	core/route/repair_verdict.c core/route/repair_way.c \
	core/route/route_apart.c core/route/route_apart.h \
	core/route/route.c core/route/route.h \
	core/route/router.c core/route/router.h \
	core/route/sl_model.h \
	core/route/snapshot.c core/route/snapshot.h core/route/snapshot_less.c \
	core/route/switch_order.c core/route/switch_order.h \
	core/route/tables.c core/route/tables.h core/route/tables_vls.c core/route/tables_vls.h \
	core/route/transition.c core/route/transition.h core/route/transition_admit.c \
	core/route/transition_internal.h core/route/transition_plan.c core/route/transition_send.c \
	core/route/verify.c core/route/verify_cycles.c core/route/verify_internal.h \
	core/route/verify_adaptive.c core/route/verify_adaptive.h core/route/verify_adaptive_deps.c \
	core/route/verify_way.c \
	core/route/verify_class.c core/route/verify_class.h core/route/verify_class_deps.c \
	core/route/verify_class_choices.c core/route/verify_class_hops.c \
	core/route/verify_class_lanes.c core/route/verify_class_masks.c \
	core/route/verify_class_runs.c core/route/verify_class_single.c \
	core/route/verify_vl.c core/route/verify_vl_class.c core/route/verify_vl_class.h \
	core/route/verify_vl_state.c \
	core/route/verify_walk.c core/route/verify_words.c \
	core/route/verify.h \
	core/route/watch.c core/route/watch.h \
	core/route/worker.c core/route/worker.h
CORE_SOURCES += core/route/props.c core/route/props.h core/route/props_internal.h \
	core/route/props_repair.c \
	core/route/props_rows.c core/route/props_run.c
CORE_SOURCES += core/route/overlay.c core/route/overlay.h
