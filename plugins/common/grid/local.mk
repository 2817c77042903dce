# SPDX-License-Identifier: BSD-2-Clause
# plugins/common/grid/: meshes, tori, hypercubes, HyperX: found, routed dimension by dimension, VLs for their rings.
COMMON_SOURCES += \
	plugins/common/grid/datelines.c \
	plugins/common/grid/datelines.h \
	plugins/common/grid/dimensions.c \
	plugins/common/grid/dimensions.h \
	plugins/common/grid/grid.c \
	plugins/common/grid/grid.h \
	plugins/common/grid/grid_classes.c \
	plugins/common/grid/grid_fill.c \
	plugins/common/grid/grid_internal.h \
	plugins/common/grid/grid_levels.c \
	plugins/common/grid/grid_steps.c \
	plugins/common/grid/grid_steps.h \
	plugins/common/grid/grid_view.c
nobase_fmalgo_HEADERS += \
	plugins/common/grid/datelines.h \
	plugins/common/grid/dimensions.h \
	plugins/common/grid/grid.h \
	plugins/common/grid/grid_steps.h
