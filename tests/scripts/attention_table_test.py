"""Tests of scripts/attention_table.py on made-up files."""

import importlib.util
import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("attention_table", ROOT / "scripts/attention_table.py")
attention_table = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(attention_table)


def experiment(shape, median_ns, operator="tree_attention", axes=(), **measurement):
    """As the client prints one: 64-bit integers are strings."""
    arm = {"launch_mode": "GRAPH", "cache_mode": "COLD", "min_bytes": "19400000", "floor_ns": "4500",
           "bits": {"failed": "BITS_CHECK_UNSPECIFIED", "detail": ""}, **measurement}
    return {
        "spec": {"operator_name": operator, "axes": [{"name": "slots", "values": ["4", "8"]}],
                 "baseline": {"variant": "staged", "parameters": [{"name": "result", "value": "skip"}]}},
        "started_ns": "1767225600000000000",
        "device": {"model": "Made-up GPU", "driver_version": "1", "toolkit_version": "2", "code_version": "3"},
        "configurations": [{
            "workload": {"name": shape, "axes": [{"name": n, "value": v} for n, v in axes]},
            "baseline_arm": {"variant": "staged", "parameters": [{"name": "slots", "value": "4"},
                                                                 {"name": "tile", "value": "32"},
                                                                 {"name": "result", "value": "skip"}]},
            "outcome": "FINISHED", "message": "", "baseline": arm,
            "verdicts": [{"verdict": "NOT_JUDGED", "stages": [
                {"stage": "total", "baseline_median_ns": str(median_ns)}]}],
        }],
    }


def peer(shape, name, cold_us, status="ok"):
    return {"op": "tree", "shape": shape, "peer": name, "cold_us": cold_us, "status": status}


def peers(*rows, date="2026-01-01"):
    return {"date": date, "clocks": "-", "rows": list(rows)}


def row(*documents):
    lines = attention_table.report_of(list(documents)).splitlines()
    found = [line for line in lines if line.startswith("| ")]
    assert len(found) == 2, lines
    return [cell.strip() for cell in found[1].strip("|").split("|")]


class AttentionTable(unittest.TestCase):
    def test_gives_a_rejected_arm_no_time(self):
        bits = {"failed": "BITS_EQUAL", "detail": "12 of 24 elements differ"}
        cells = row(experiment("T2", 10_000, bits=bits), peers(peer("T2", "triton", 12.0)))
        self.assertEqual(cells[2:9], ["-"] * 7)
        self.assertEqual(cells[9], "rejected: 12 of 24 elements differ")

    def test_gives_an_arm_that_did_not_finish_no_time(self):
        made = experiment("T2", 10_000)
        made["configurations"][0].update(outcome="REFUSED", message="launch_mode: no graphs")
        self.assertEqual(row(made)[9], "refused: launch_mode: no graphs")

    def test_puts_no_stream_time_beside_a_peer(self):
        cells = row(experiment("T2", 10_000, launch_mode="STREAM"), peers(peer("T2", "triton", 12.0)))
        self.assertEqual(cells[2], "-")
        self.assertEqual(cells[9], "not a cold graph: COLD STREAM")

    def test_has_no_time_where_no_replay_had_one(self):
        self.assertEqual(row(experiment("T2", 0))[9], "no usable time")

    def test_never_takes_a_peer_that_failed_its_check_for_the_best(self):
        cells = row(experiment("T2", 10_000),
                    peers(peer("T2", "cudnn", 1.0, "FAILED check: 3 x tolerance"), peer("T2", "triton", 12.0)))
        self.assertEqual(cells[5], "12.00 (triton)")

    def test_says_when_it_was_not_one_sitting(self):
        text = attention_table.report_of([experiment("T2", 10_000), peers(date="2026-01-02")])
        self.assertIn("NOT ONE SITTING", text)
        text = attention_table.report_of([experiment("T2", 10_000), peers(date="2026-01-01")])
        self.assertNotIn("NOT ONE SITTING", text)

    def test_computes_every_figure_of_a_shape(self):
        cells = row(experiment("T2", 10_000),
                    peers(peer("T2", "triton", 8.0), peer("T2", "triton512", 12.5), peer("T4", "triton", 1.0)))
        self.assertEqual(cells, ["T2", "staged:slots=4", "10.00", "1.940", "45.0%", "8.00 (triton)", "1.250",
                                 "12.50", "0.800", "missed: 1.15 x best by 8.7%"])

    def test_asks_for_less_on_shapes_that_are_not_close(self):
        documents = (experiment("T3", 10_000), peers(peer("T3", "triton", 8.0), peer("T3", "triton512", 10.0)))
        self.assertEqual(row(*documents)[9], "missed: triton512 by 0.0%")
        documents = (experiment("T3", 9_900), peers(peer("T3", "triton", 8.0), peer("T3", "triton512", 10.0)))
        self.assertEqual(row(*documents)[9], "met")

    def test_tells_causal_from_not_causal(self):
        theirs = peers(peer("B3n", "triton", 20.0), peer("B3c", "triton", 10.0))
        made = experiment("b3", 10_000, "block_attention", [("causal", "yes")])
        self.assertEqual(row(made, theirs)[0], "B3c")
        self.assertEqual(row(made, theirs)[6], "1.000")
        made = experiment("b3", 10_000, "block_attention", [("causal", "no")])
        self.assertEqual(row(made, theirs)[6], "0.500")

    def test_sorts_shapes_by_number_and_names_lonely_peers(self):
        text = attention_table.report_of(
            [[experiment("T10", 1000), experiment("T2", 1000)], peers(peer("T5", "triton", 1.0))])
        self.assertLess(text.index("| T2 |"), text.index("| T10 |"))
        self.assertIn("Peers without a time of ours beside them: T5\n", text)

    def test_keeps_the_faster_of_two_runs_of_a_peer(self):
        cells = row(experiment("T2", 10_000), peers(peer("T2", "triton", 8.0)), peers(peer("T2", "triton", 9.0)))
        self.assertEqual(cells[5], "8.00 (triton)")


if __name__ == "__main__":
    unittest.main()
