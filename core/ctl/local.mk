# SPDX-License-Identifier: BSD-2-Clause
# core/ctl/: the control socket.
