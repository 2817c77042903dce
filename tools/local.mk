# SPDX-License-Identifier: BSD-2-Clause
# tools/: fmroute, fmctl, fmd-engine-check.
