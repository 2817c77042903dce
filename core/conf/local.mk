# SPDX-License-Identifier: BSD-2-Clause
# core/conf/: plugins, options, configuration files.
CORE_SOURCES += \
	core/conf/cli.c core/conf/cli.h core/conf/conf.c core/conf/conf.h core/conf/conf_chain.c core/conf/conf_parse.c \
	core/conf/conf_keys.c core/conf/conf_private.h core/conf/conf_regions.c core/conf/conf_rows.c \
	core/conf/conf_scan.c core/conf/conf_scan.h core/conf/describe.c core/conf/describe.h \
	core/conf/groups.c core/conf/groups.h core/conf/json_text.c core/conf/json_text.h core/conf/name_ranges.c core/conf/name_ranges.h \
	core/conf/nodes.c core/conf/nodes.h core/conf/nodes_resolve.c core/conf/number.c core/conf/number.h \
	core/conf/option_parse.c core/conf/option_value.h \
	core/conf/options.c core/conf/options.h \
	core/conf/plugin.c core/conf/plugin.h core/conf/plugin_check.c core/conf/plugin_check.h core/conf/plugin_file.c \
	core/conf/plugin_file.h core/conf/plugin_image.c core/conf/plugin_image.h \
	core/conf/readfile.c core/conf/readfile.h core/conf/regexp.c core/conf/regexp.h \
	core/conf/regions.c core/conf/regions.h \
	core/conf/regions_json.c core/conf/regions_json.h \
	core/conf/entry_options.c core/conf/entry_options.h core/conf/traits.c core/conf/traits.h \
	core/conf/suggest.c core/conf/suggest.h
CORE_SOURCES += core/conf/rchain.c core/conf/rchain.h core/conf/rchain_groups.c core/conf/rchain_groups.h \
	core/conf/rchain_config.c core/conf/rchain_config.h core/conf/rchain_members.c core/conf/rchain_text.c \
	core/conf/rchain_text.h
CORE_SOURCES += core/conf/conf_peek.c core/conf/conf_policies.c core/conf/conf_steps.c
