# SPDX-License-Identifier: Apache-2.0
"""The tables of the article Servers."""


def line(result):
    """A row for whoever watches a run."""
    def short(value):
        return "/".join(map(str, value["answers"])) + f" {value['noticed']} {value['errors'] or ''}" \
            if isinstance(value, dict) and "noticed" in value else value

    shown = {name: short(value) for name, value in result.items() if name not in ("name", "source", "note")}
    return f"{result['name']}: {shown}"


def tables(results):
    return ""
