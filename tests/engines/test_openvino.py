# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""OpenVINO: kernels at addresses of earlier kernels, in memory that stays writable."""

import unittest

import engine_truth
import harness
import published


class OpenVino(harness.KernelTest):
    def test_addresses_used_again(self):
        run = self.record(published.command("openvino_models.py", 8), ["-F", "999"],
                          env=engine_truth.onednn_environment(self.folder))
        self.assertIn(b"rwxp", run.stdout)
        truth = engine_truth.Truth(engine_truth.onednn_loads(self.folder))
        reused = [names for names in truth.names_by_address().values() if len(names) > 1]
        self.assertGreater(len(reused), 1)
        samples = run.script()
        right, wrong = truth.compare(samples)
        self.assertEqual(wrong, [])
        self.assertGreater(sum(right.values()), 100)
        self.assertGreater(len(right), 2)
        threads = {sample.tid for sample in samples
                   if any(frame.module == "[jit]" for frame in sample.frames)}
        self.assertGreaterEqual(len(threads), 3)  # of four threads; their scheduling is not ours
        summary = self.check_ledger(run)
        self.assertEqual(summary["jit"]["methods"], len(truth.loads))
        self.assertEqual((summary["jit"]["unloads"], summary["samples"]["lost"]), (0, 0))


if __name__ == "__main__":
    unittest.main()
