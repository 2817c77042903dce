# SPDX-License-Identifier: BSD-2-Clause
# core/text/: files, words, numbers, blocks of "key: value" lines.
CORE_SOURCES += \
	core/text/blocks.c \
	core/text/blocks.h \
	core/text/files.c \
	core/text/files.h \
	core/text/json_text.c \
	core/text/json_text.h \
	core/text/mistakes.c \
	core/text/mistakes.h \
	core/text/name_ranges.c \
	core/text/name_ranges.h \
	core/text/number.c \
	core/text/number.h \
	core/text/readfile.c \
	core/text/readfile.h \
	core/text/regexp.c \
	core/text/regexp.h \
	core/text/relay.c \
	core/text/relay.h \
	core/text/seal.c \
	core/text/seal.h \
	core/text/sentence.h \
	core/text/standard.c \
	core/text/standard.h \
	core/text/suggest.c \
	core/text/suggest.h
