# SPDX-License-Identifier: BSD-2-Clause
# core/ha/: other SMs.
