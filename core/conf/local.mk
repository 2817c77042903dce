# SPDX-License-Identifier: BSD-2-Clause
# core/conf/: plugins, options, configuration files.
CORE_SOURCES += core/conf/options.h core/conf/plugin.h
