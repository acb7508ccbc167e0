#!/usr/bin/env python3
"""Writes app/analysis/backends-table.c from data/backends.json: run by hand when the facts change.

    data/make-backends-table.py data/backends.json app/analysis/backends-table.c
"""
import json
import sys

OPERATIONS = ["mul_mat", "mul_mat_id", "get_rows", "linear", "moe", "embedding", "conv"]
STATES = ["native", "dequantized", "fallback-cpu", "unsupported", "unknown"]


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def main(source, target):
    facts = json.load(open(source, encoding="utf-8"))
    backends = [row[0] for row in facts["backends"]]
    schemes = [row[0] for row in facts["schemes"]]
    rows = sorted((schemes.index(r[0]), backends.index(r[1]), OPERATIONS.index(r[2]), STATES.index(r[3]), r[4], r[5], r[6])
                  for r in facts["support"])
    assert len({row[:3] for row in rows}) == len(rows), "a row stands twice"
    assert all(facts["sources"][row[6]] for row in rows), "a row without a source"

    out = ["/* Made by data/make-backends-table.py from data/backends.json; not edited by hand. */",
           '#include "analysis/backends-table.h"', "", f"const char tm_backends_as_of[] = {quoted(facts['as_of'])};", "",
           "const TmBackend tm_backend_rows[] = {"]
    for identity, name, family, hardware in facts["backends"]:
        out.append(f"  {{ {quoted(identity.removeprefix('ggml-'))}, {quoted(name)}, {quoted(family)}, {quoted(hardware)} }},")
    out += ["};", "const guint tm_n_backend_rows = G_N_ELEMENTS (tm_backend_rows);", "", "const char *const tm_support_schemes[] = {"]
    out += [f"  {quoted(s)}," for s in schemes]
    out += ["};", "const guint tm_n_support_schemes = G_N_ELEMENTS (tm_support_schemes);", "",
            "const TmSupportMatch tm_support_matches[] = {"]
    for scheme, dtype, bits, group, *ids in facts["match"]:
        numbers = [str(schemes.index(i)) for i in ids] + ["-1"] * (2 - len(ids))
        assert len(numbers) == 2
        out.append(f"  {{ {quoted(scheme)}, {'NULL' if dtype == '*' else quoted(dtype)}, {bits}, {group}, {{ {', '.join(numbers)} }} }},")
    out += ["};", "const guint tm_n_support_matches = G_N_ELEMENTS (tm_support_matches);", ""]
    for name in ("needs", "notes", "sources"):
        out.append(f"const char *const tm_support_{name}[] = {{")
        out += [f"  {quoted(text)}," for text in facts[name]]
        out += ["};", ""]
    out.append("const TmSupportRow tm_support_rows[] = {")
    out += ["  { " + ", ".join(map(str, row)) + " }," for row in rows]
    out += ["};", "const guint tm_n_support_rows = G_N_ELEMENTS (tm_support_rows);", ""]
    open(target, "w", encoding="utf-8").write("\n".join(out))


main(*sys.argv[1:])
