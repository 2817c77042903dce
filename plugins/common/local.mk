# SPDX-License-Identifier: BSD-2-Clause
# plugins/common/: algorithms over struct fm_fabric that engines share.
COMMON_SOURCES += \
	plugins/common/arcs.c plugins/common/arcs.h \
	plugins/common/balance.c plugins/common/balance.h \
	plugins/common/grow.c plugins/common/grow.h \
	plugins/common/lids.c plugins/common/lids.h \
	plugins/common/mend.c plugins/common/mend.h \
	plugins/common/reach.c plugins/common/reach.h \
	plugins/common/spread.c plugins/common/spread.h \
	plugins/common/table_file.c plugins/common/table_file.h \
	plugins/common/tree.c plugins/common/tree.h \
	plugins/common/updown.c plugins/common/updown.h
