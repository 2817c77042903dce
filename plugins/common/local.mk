# SPDX-License-Identifier: BSD-2-Clause
# plugins/common/: algorithms over struct fm_fabric that engines share.
# One file a line, sorted.
COMMON_SOURCES += \
	plugins/common/alternatives.c \
	plugins/common/alternatives.h \
	plugins/common/apart.c \
	plugins/common/apart.h \
	plugins/common/arcs.c \
	plugins/common/arcs.h \
	plugins/common/balance.c \
	plugins/common/balance.h \
	plugins/common/cardinality.c \
	plugins/common/cardinality.h \
	plugins/common/channels.c \
	plugins/common/channels.h \
	plugins/common/choice_options.c \
	plugins/common/choice_options.h \
	plugins/common/counts.c \
	plugins/common/counts.h \
	plugins/common/datelines.c \
	plugins/common/datelines.h \
	plugins/common/dimensions.c \
	plugins/common/dimensions.h \
	plugins/common/estimate.c \
	plugins/common/estimate.h \
	plugins/common/forest.c \
	plugins/common/forest.h \
	plugins/common/forest_tables.c \
	plugins/common/grid.c \
	plugins/common/grid.h \
	plugins/common/grid_classes.c \
	plugins/common/grid_fill.c \
	plugins/common/grid_internal.h \
	plugins/common/grid_levels.c \
	plugins/common/grid_steps.c \
	plugins/common/grid_steps.h \
	plugins/common/grid_view.c \
	plugins/common/grow.c \
	plugins/common/grow.h \
	plugins/common/layers.c \
	plugins/common/layers.h \
	plugins/common/layers_tables.c \
	plugins/common/lids.c \
	plugins/common/lids.h \
	plugins/common/mend.c \
	plugins/common/mend.h \
	plugins/common/order.c \
	plugins/common/order.h \
	plugins/common/reach.c \
	plugins/common/reach.h \
	plugins/common/sl_file.c \
	plugins/common/sl_file.h \
	plugins/common/spread.c \
	plugins/common/spread.h \
	plugins/common/spread_columns.c \
	plugins/common/spread_main.c \
	plugins/common/spread_row.h \
	plugins/common/sssp.c \
	plugins/common/sssp.h \
	plugins/common/steps.c \
	plugins/common/steps.h \
	plugins/common/table_file.c \
	plugins/common/table_file.h \
	plugins/common/tree.c \
	plugins/common/tree.h \
	plugins/common/turns.c \
	plugins/common/turns.h \
	plugins/common/updown.c \
	plugins/common/updown.h \
	plugins/common/updown_options.c \
	plugins/common/updown_options.h

# Installed so that the same #include lines work outside (fmd-engine.pc has
# both directories): "plugins/common/tree.h", "lib/bitset.h".
fmalgodir = $(includedir)/fmd/algo
nobase_fmalgo_HEADERS = \
	plugins/common/alternatives.h \
	plugins/common/apart.h \
	plugins/common/arcs.h \
	plugins/common/balance.h \
	plugins/common/cardinality.h \
	plugins/common/channels.h \
	plugins/common/choice_options.h \
	plugins/common/counts.h \
	plugins/common/datelines.h \
	plugins/common/dimensions.h \
	plugins/common/estimate.h \
	plugins/common/forest.h \
	plugins/common/grid.h \
	plugins/common/grid_steps.h \
	plugins/common/grow.h \
	plugins/common/layers.h \
	plugins/common/lids.h \
	plugins/common/mend.h \
	plugins/common/order.h \
	plugins/common/reach.h \
	plugins/common/sl_file.h \
	plugins/common/spread.h \
	plugins/common/sssp.h \
	plugins/common/steps.h \
	plugins/common/tree.h \
	plugins/common/turns.h \
	plugins/common/updown.h \
	plugins/common/updown_options.h \
	lib/acyclic.h \
	lib/arena.h \
	lib/bitset.h \
	lib/error.h \
	lib/hash.h \
	lib/heap.h \
	lib/rng.h \
	lib/scc.h \
	lib/ufind.h \
	lib/vec.h \
	lib/wide.h
