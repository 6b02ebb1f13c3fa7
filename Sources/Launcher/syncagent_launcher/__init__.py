# SPDX-License-Identifier: Apache-2.0
"""The parts of syncagent-launcher. `names` and `states` decide, and need no display; the others draw."""
