# SPDX-License-Identifier: Apache-2.0
"""Parts of a text in Markdown."""
import re


def outside_code(text, change):
    """The text with a change made to all but its blocks and spans of code."""
    parts = re.split(r"(?ms)(^```.*?^```$|(?<!`)`[^`\n]+`(?!`))", text)
    return "".join(part if number % 2 else change(part) for number, part in enumerate(parts))
