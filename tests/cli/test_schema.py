#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""test_schema.py BUILD: what `report --json` writes is what docs/report.schema.json says."""

import copy
import json
import pathlib
import re
import subprocess
import sys
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDINGS = sorted((ROOT / "tests/golden").glob("*.jitbpf"))
TYPES = {"object": dict, "array": list, "string": str, "integer": int}
# The schema has no other keywords, so that none is passed over.
KEYWORDS = {"$schema", "$defs", "$ref", "title", "description", "type", "properties", "required", "items", "const",
            "enum", "minimum"}


def jitbpf(*arguments):
    return subprocess.run([str(BUILD / "jitbpf"), *arguments], capture_output=True, text=True, check=True,
                          timeout=60).stdout


def faults(value, schema, root, place="$"):
    """Yields what is wrong with a value. A member that the schema does not describe is wrong, too."""
    unknown = set(schema) - KEYWORDS
    if unknown:
        yield f"{place}: keywords {unknown}"
    if "$ref" in schema:
        part = root
        for key in schema["$ref"].removeprefix("#/").split("/"):
            part = part[key]
        yield from faults(value, part, root, place)
        return
    wanted = TYPES.get(schema.get("type"), object)
    if not isinstance(value, wanted) or isinstance(value, bool):
        yield f"{place}: no {schema['type']}: {value!r}"
        return
    if value != schema.get("const", value) or value not in schema.get("enum", [value]):
        yield f"{place}: {value!r}"
    if "minimum" in schema and value < schema["minimum"]:
        yield f"{place}: {value}"
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from faults(item, schema["items"], root, f"{place}[{i}]")
    if isinstance(value, dict):
        yield from (f"{place}: {key} is missing" for key in schema["required"] if key not in value)
        for key, member in value.items():
            if key not in schema["properties"]:
                yield f"{place}: {key} is not described"
            else:
                yield from faults(member, schema["properties"][key], root, f"{place}.{key}")


class Schema(unittest.TestCase):
    def setUp(self):
        self.schema = json.loads((ROOT / "docs/report.schema.json").read_text(encoding="utf-8"))

    def check(self, value):
        return list(faults(value, self.schema, self.schema))

    def test_real_outputs(self):
        self.assertGreater(len(RECORDINGS), 4)
        for path in RECORDINGS:
            for options in (("--json",), ("-f", "json"), ("--json", "--kernel", "no", "--comm", "nobody")):
                self.assertEqual(self.check(json.loads(jitbpf("report", *options, str(path)))), [], path)

    def test_faults_are_found(self):
        whole = json.loads(jitbpf("report", "--json", str(RECORDINGS[0])))

        def changed(*path, value=None):
            made = at = copy.deepcopy(whole)
            for key in path[:-1]:
                at = at[key]
            if value is None:
                del at[path[-1]]
            else:
                at[path[-1]] = value
            return made
        for made in (changed("version"), changed("version", value=2), changed("samples", "cut", "depth"),
                     changed("samples", "taken", value=-1), changed("samples", "taken", value="1"),
                     changed("run", "host", value=1), changed("processes", 0, "jit", "methods"),
                     changed("processes", 0, "new", value=1), changed("processes", value={}),
                     changed("over_memory", value=[{"what": "other", "cgroup": 1, "refused": 1}]),
                     changed("jit", "methods", value=True)):
            self.assertEqual(len(self.check(made)), 1, self.check(made))
        owner = {"what": "files", "uid": 1000, "cgroup": 1, "refused": 1}
        self.assertEqual(self.check(changed("over_memory", value=[owner])), [])

    def test_descriptions_are_those_of_explain(self):
        """What the schema says of a count is what the summary's table of terms says."""
        parts = {"samples.": self.schema["$defs"]["samples"], "jit.": self.schema["$defs"]["jit"],
                 "samples.cut.": self.schema["$defs"]["samples"]["properties"]["cut"],
                 "counters.": self.schema["properties"]["counters"]}
        for group, part in parts.items():
            for key, member in part["properties"].items():
                if key != "cut":
                    explained = re.sub(r"\s+", " ", jitbpf("explain", group + key))
                    self.assertIn(f") {member['description']}", explained)


if __name__ == "__main__":
    unittest.main(verbosity=2)
