# SPDX-License-Identifier: BSD-2-Clause
# conf/: configuration, examples, service files.
