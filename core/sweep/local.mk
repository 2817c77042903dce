# SPDX-License-Identifier: BSD-2-Clause
# core/sweep/: discovery, inventory, apply, traps.
