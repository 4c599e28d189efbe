#!/usr/bin/env python3
"""Joins assay's times with the peers' of the same sitting into one table in Markdown.

usage: attention_table.py FILE...

Each file is JSON: an experiment as `assay measure --format json` prints it, what attention_peers.py
writes, or a list of such. A shape is matched by the name of its workload; block attention's have an
`n` (not causal) or a `c` (causal) behind it. Only times of cold graphs are put beside a peer's, and
an arm that failed a check has none.
"""

import json
import sys
from datetime import datetime, timezone

OPERATORS = ("tree_attention", "block_attention")
FIXED_SPLITS = "triton512"
# Shapes on which the best peer is to be met within 15 %; elsewhere half as slow again is enough.
CLOSE = {"T2", "T4", "T5", "T11", "T12", "T13", "T14", "B5", "B7", "B9"}
CLOSE_RATIO = 1.15
OTHER_RATIO = 1.5


def items_of(document):
    """All objects of nested lists and of the peers' `rows`, in order."""
    if isinstance(document, list):
        for part in document:
            yield from items_of(part)
    elif isinstance(document, dict):
        yield document
        yield from items_of(document.get("rows", []))


def shape_of(operator, workload):
    name = workload.get("name", "").upper()
    if operator != "block_attention" or not name:
        return name
    axes = {axis["name"]: axis["value"] for axis in workload.get("axes", [])}
    return name + ("c" if axes.get("causal") in ("yes", "on", "true", "1") else "n")


def arm_text(spec, arm):
    """The variant with the parameters that were asked for; the rest are its own."""
    asked = {p["name"] for p in spec.get("baseline", {}).get("parameters", []) + spec.get("axes", [])}
    settings = [s["name"] + "=" + s["value"] for s in arm.get("parameters", [])
                if s["name"] in asked - {"result"}]
    return ":".join([arm.get("variant", "?")] + ([",".join(settings)] if settings else []))


def row_of(experiment, configuration):
    """One arm on one shape: its time, or the reason why there is none."""
    operator = experiment["spec"]["operator_name"]
    arm = configuration["baseline"]
    row = {"operator": operator, "shape": shape_of(operator, configuration["workload"]),
           "arm": arm_text(experiment["spec"], configuration["baseline_arm"]), "ns": 0, "why": "",
           "bytes": int(arm.get("min_bytes", 0)), "floor_ns": int(arm.get("floor_ns", 0))}
    verdict = (configuration.get("verdicts") or [{}])[-1]
    total = [s for s in verdict.get("stages", []) if s["stage"] == "total"]
    failed = arm.get("bits", {}).get("failed", "BITS_CHECK_UNSPECIFIED")
    if configuration.get("outcome") != "FINISHED":
        row["why"] = f"{configuration.get('outcome', 'no outcome').lower()}: {configuration.get('message', '')}"
    elif failed != "BITS_CHECK_UNSPECIFIED" or verdict.get("verdict") == "REJECTED":
        row["why"] = f"rejected: {arm.get('bits', {}).get('detail') or verdict.get('reason', '')}"
    elif arm.get("launch_mode") != "GRAPH" or arm.get("cache_mode") != "COLD":
        row["why"] = f"not a cold graph: {arm.get('cache_mode')} {arm.get('launch_mode')}"
    elif not total or int(total[0].get("baseline_median_ns", 0)) <= 0:
        row["why"] = "no usable time"
    else:
        row["ns"] = int(total[0]["baseline_median_ns"])
    return row


def peers_by_shape(items):
    """The fastest cold time of each peer that passed its check, in microseconds."""
    peers = {}
    for item in items:
        if "peer" in item and item.get("status") == "ok" and item.get("cold_us", 0) > 0:
            known = peers.setdefault(item["shape"], {})
            known[item["peer"]] = min(known.get(item["peer"], item["cold_us"]), item["cold_us"])
    return peers


def target_of(shape, us, best, fixed):
    """What is to be reached, and by how much it is missed."""
    missed = []
    if fixed and us >= fixed:
        missed.append(f"{FIXED_SPLITS} by {us / fixed - 1:.1%}")
    limit = CLOSE_RATIO if shape.rstrip("nc") in CLOSE else OTHER_RATIO
    if best and us > limit * best:
        missed.append(f"{limit:g} x best by {us / (limit * best) - 1:.1%}")
    if not best and not fixed:
        return "-"
    return "missed: " + ", ".join(missed) if missed else "met"


def figures_of(row, peers):
    us = row["ns"] / 1000
    known = peers.get(row["shape"], {})
    best = min(known, key=known.get) if known else None
    fixed = known.get(FIXED_SPLITS)
    return [f"{us:.2f}", f"{row['bytes'] / row['ns'] / 1000:.3f}",
            f"{row['floor_ns'] / row['ns']:.1%}" if row["floor_ns"] > 0 else "-",
            f"{known[best]:.2f} ({best})" if best else "-",
            f"{us / known[best]:.3f}" if best else "-",
            f"{fixed:.2f}" if fixed else "-", f"{us / fixed:.3f}" if fixed else "-",
            target_of(row["shape"], us, known[best] if best else None, fixed)]


def shape_order(row):
    digits = "".join(c for c in row["shape"] if c.isdigit())
    return int(digits or 0), row["shape"]


def table_of(rows, peers):
    header = ["shape", "variant", "us", "TB/s", "of floor", "best peer us", "ratio",
              f"{FIXED_SPLITS} us", "ratio", "target"]
    lines = ["| " + " | ".join(header) + " |", "|---|---|---:|---:|---:|---:|---:|---:|---:|---|"]
    for row in sorted(rows, key=shape_order):
        cells = figures_of(row, peers) if row["ns"] else ["-"] * 7 + [row["why"].replace("|", "/")]
        lines.append("| " + " | ".join([row["shape"] or "-", row["arm"]] + cells) + " |")
    return lines


def facts_of(experiments, documents):
    """Which device and when, of both sides, and whether that was one sitting."""
    devices, ours, theirs = set(), set(), set()
    for experiment in experiments:
        device = experiment.get("device", {})
        devices.add(f"{device.get('model')}, driver {device.get('driver_version')}, "
                    f"toolkit {device.get('toolkit_version')}, code {device.get('code_version')}")
        if int(experiment.get("started_ns", 0)) > 0:
            started = datetime.fromtimestamp(int(experiment["started_ns"]) / 1e9, timezone.utc)
            ours.add(started.strftime("%Y-%m-%d"))
    for document in documents:
        if "rows" in document and document.get("date"):
            theirs.add(document["date"])
    lines = [f"- device: {text}" for text in sorted(devices)]
    lines.append(f"- days: assay {', '.join(sorted(ours)) or '-'}; peers {', '.join(sorted(theirs)) or '-'}")
    if ours and theirs and len(ours | theirs) > 1:
        lines.append("- NOT ONE SITTING: cards and days differ by some percent, so do not quote the ratios")
    lines.append("- cold, whole operator, graph replays; floor is the bytes at the device's read ceiling")
    return lines


def report_of(documents):
    items = list(items_of(documents))
    experiments = [item for item in items if "configurations" in item]
    rows = [row_of(e, c) for e in experiments for c in e["configurations"]]
    peers = peers_by_shape(items)
    lines = facts_of(experiments, items)
    for operator in OPERATORS:
        found = [row for row in rows if row["operator"] == operator]
        if found:
            lines += ["", f"## {operator}", ""] + table_of(found, peers)
    measured = {row["shape"] for row in rows if row["ns"]}
    left = sorted(set(peers) - measured)
    if left:
        lines += ["", "Peers without a time of ours beside them: " + ", ".join(left)]
    return "\n".join(lines) + "\n"


def main(paths):
    if not paths or paths[0] in ("-h", "--help"):
        sys.exit(__doc__)
    documents = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            documents.append(json.load(file))
    sys.stdout.write(report_of(documents))


if __name__ == "__main__":
    main(sys.argv[1:])
