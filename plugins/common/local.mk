# SPDX-License-Identifier: BSD-2-Clause
# plugins/common/: algorithms over struct fm_fabric that engines share.
