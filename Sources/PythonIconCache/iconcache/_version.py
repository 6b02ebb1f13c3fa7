# SPDX-License-Identifier: Apache-2.0
"""The version of the package: that of syncagent, as in Packaging/debian/changelog."""

__version__ = "1.0.0"
