# SPDX-License-Identifier: BSD-2-Clause
# plugins/common/: algorithms over struct fm_fabric that engines share.  The rooms stand in
# their order: one includes only what stands before it.
#
# Headers are installed so that the same #include lines work outside (fmd-engine.pc has
# both directories): "plugins/common/tree/tree.h", "lib/bitset.h".
fmalgodir = $(includedir)/fmd/algo
nobase_fmalgo_HEADERS = \
	lib/algo/acyclic.h \
	lib/algo/heap.h \
	lib/algo/scc.h \
	lib/algo/topo_order.h \
	lib/algo/ufind.h \
	lib/arena.h \
	lib/bitset.h \
	lib/error.h \
	lib/hash.h \
	lib/lines.h \
	lib/rng.h \
	lib/vec.h \
	lib/wide.h
include plugins/common/paths/local.mk
include plugins/common/tree/local.mk
include plugins/common/grid/local.mk
include plugins/common/sssp/local.mk
include plugins/common/updown/local.mk
include plugins/common/layers/local.mk
