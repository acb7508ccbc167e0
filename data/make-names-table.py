#!/usr/bin/env python3
"""Writes app/recognise/names-table.c from data/names.json: run by hand when the facts change.

    data/make-names-table.py data/names.json app/recognise/names-table.c
"""
import json
import re
import sys


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def key(name):
    """Numbers of blocks and experts become 0, as names.c writes them."""
    return ".".join("0" if part in ("N", "E") else part.replace("_N", "_0") for part in name.split("."))


def main(source, target):
    facts = json.load(open(source, encoding="utf-8"))
    roles, canonical = {}, {}
    for row in facts["map"]:
        for name in [row["gguf"]] + row["hf"]:
            roles.setdefault(key(name), row["role"])
    for row in facts["map"]:  # a name that stands twice is the usual one: a feed-forward norm, the last norm
        for name in [row["gguf"]] + row["hf"]:
            if key(name) not in canonical or row["gguf"] in ("blk.N.ffn_norm", "output_norm"):
                canonical[key(name)] = key(row["gguf"])
    words = re.fullmatch(r"\^\((.*)\)\$", facts["list_words"]).group(1)
    words = sorted({w for part in words.split("|") for w in ([part[:-2], part[:-1]] if part.endswith("s?") else [part])})

    out = ["/* Made by data/make-names-table.py from data/names.json; not edited by hand. */",
           '#include "recognise/names.h"', "", "const TmNameRow tm_name_rows[] = {"]
    out += [f"  {{ {quoted(k)}, {quoted(roles[k])}, {quoted(canonical[k])} }}," for k in sorted(roles)]
    out += ["};", "const guint tm_n_name_rows = G_N_ELEMENTS (tm_name_rows);", "",
            "const TmRolePattern tm_role_patterns[] = {"]
    out += [f"  {{ {quoted(p['ere'])}, {quoted(p['role'])} }}," for p in facts["role_patterns"]]
    out += ["};", "const guint tm_n_role_patterns = G_N_ELEMENTS (tm_role_patterns);", "",
            "const TmDetectRow tm_detect_rows[] = {"]
    for d in facts["detect"]:
        both = d["all"] + [""] * (3 - len(d["all"]))
        none = d["none"] + [""] * (1 - len(d["none"]))
        assert len(both) == 3 and len(none) == 1
        texts = [quoted(t) if t else "NULL" for t in both + none]
        out.append(f"  {{ {quoted(d['arch'])}, {{ {', '.join(texts[:3])} }}, {texts[3]} }},")
    out += ["};", "const guint tm_n_detect_rows = G_N_ELEMENTS (tm_detect_rows);", "", "const char *const tm_list_words[] = {"]
    out += [f"  {quoted(w)}," for w in words]
    out += ["};", "const guint tm_n_list_words = G_N_ELEMENTS (tm_list_words);", ""]
    open(target, "w", encoding="utf-8").write("\n".join(out))


main(*sys.argv[1:])
