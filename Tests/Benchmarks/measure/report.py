# SPDX-License-Identifier: Apache-2.0
"""What was measured, as a table for people and as JSON."""
import json
import math


def part(values, share):
    """The value that this share of all are no greater than."""
    values = sorted(values)
    return values[max(0, math.ceil(share * len(values)) - 1)]


class Report:
    def __init__(self, machine):
        self.machine = machine
        self.rows = []

    def section(self, title):
        print(f"\n{title}", flush=True)

    def add(self, family, name, unit, value, **others):
        """A figure; others are those of peers, ratios to them, and what it was made from."""
        self.rows.append({"family": family, "name": name, "unit": unit, "value": value, **others})
        row = self.rows[-1]
        peers = "".join(f"   {peer} {_shown(figure, unit)}" for peer, figure in row.get("peers", {}).items())
        ratios = "".join(f"   {ratio:.2f} × {peer}" for peer, ratio in row.get("ratios", {}).items())
        note = f"   ({row['note']})" if "note" in row else ""
        print(f"  {name:46}{_shown(value, unit):>12}{peers}{ratios}{note}", flush=True)

    def skip(self, family, name, reason):
        self.rows.append({"family": family, "name": name, "skipped": reason})
        print(f"  {name:46}{'skipped':>12}   ({reason})", flush=True)

    def write(self, path):
        with open(path, "w") as file:
            json.dump({"machine": self.machine, "rows": self.rows}, file, indent=1, ensure_ascii=False)
            file.write("\n")


def _shown(value, unit):
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f} {unit}"
