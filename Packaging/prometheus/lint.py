#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a scrape on stdin: it parses, and its metrics follow the conventions of Prometheus.

Needs prometheus_client (python3-prometheus-client of Debian, or prometheus-client of PyPI). Exit code 2 says that it
is missing. Example:
curl -s --unix-socket /run/syncagent/control.sock http://agent/v1/metrics | Packaging/prometheus/lint.py
"""
import math
import re
import sys

try:
    from prometheus_client.parser import text_string_to_metric_families
except ImportError:
    print(
        "prometheus_client is missing: install python3-prometheus-client, or prometheus-client with pip",
        file=sys.stderr)
    sys.exit(2)

text = sys.stdin.read()
faults = []


def check(holds, fault):
    if not holds:
        faults.append(fault)


check(text.endswith("\n"), "the text does not end with a newline")
helps = re.findall(r"^# HELP (\S+) .", text, re.M)
types = re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M)
check(len(set(helps)) == len(helps), "a metric has HELP twice")
check(len(set(types)) == len(types), "a metric has TYPE twice")
seen = set()
for family in text_string_to_metric_families(text):
    # The parser takes the suffix of counters away.
    name = family.name + ("_total" if family.type == "counter" else "")
    check(family.documentation, f"{name} has no HELP")
    check((name, family.type) in types, f"{name} has no TYPE")
    check(family.type in ("counter", "gauge", "histogram"), f"{name} is a {family.type}")
    check((family.type == "counter") == name.endswith("_total"), f"{name}: counters end in _total, and nothing else")
    check(not re.search(r"_(ms|milliseconds|minutes|hours|kb|mb|kilobytes|megabytes|percent)(_|$)", name),
          f"{name} has no base unit")
    check(family.samples, f"{name} has no sample")
    histograms = {}
    for sample in family.samples:
        series = (sample.name, tuple(sorted(sample.labels.items())))
        check(series not in seen, f"{series} is there twice")
        seen.add(series)
        check(not math.isnan(sample.value), f"{series} is not a number")
        check(family.type != "counter" or sample.value >= 0, f"{series} is negative")
        for label in sample.labels:
            reserved = label.startswith("__") or label in ("job", "instance", "quantile")
            check(not reserved and (label != "le" or sample.name.endswith("_bucket")), f"{series}: label {label}")
        if family.type == "histogram":
            labels = tuple(sorted((k, v) for k, v in sample.labels.items() if k != "le"))
            parts = histograms.setdefault(labels, {"buckets": []})
            if sample.name.endswith("_bucket"):
                parts["buckets"].append((float(sample.labels["le"]), sample.value))
            else:
                parts[sample.name.rsplit("_", 1)[1]] = sample.value
    for labels, parts in histograms.items():
        bounds = [bound for bound, _ in parts["buckets"]]
        counts = [count for _, count in parts["buckets"]]
        check(bounds == sorted(set(bounds)) and bounds[-1] == math.inf, f"{name}{labels}: bounds {bounds}")
        check(counts == sorted(counts), f"{name}{labels}: the buckets are not cumulative")
        check("sum" in parts and parts.get("count") == counts[-1], f"{name}{labels}: _sum or _count is missing or wrong")
for fault in faults:
    print(fault, file=sys.stderr)
print(f"{len(types)} metrics, {len(seen)} samples")
sys.exit(1 if faults else 0)
