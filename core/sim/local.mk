# SPDX-License-Identifier: BSD-2-Clause
# core/sim/: the simulated fabric behind the transport sim:.
