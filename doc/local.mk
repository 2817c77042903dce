# SPDX-License-Identifier: BSD-2-Clause
# doc/: man pages, design tour, glossary.
