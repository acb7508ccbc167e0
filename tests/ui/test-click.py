#!/usr/bin/python3
"""A real click on a scalar in a real window: what the inspector shows is what the command line's record says.

Runs under run-gui, with PROGRAM, CLI and SAMPLE in the environment. The address bar flies to a tensor's cells; from there
on the pointer and the arrow keys choose scalars, and the accessibility bus tells what the window shows.
"""
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import time

here = pathlib.Path(__file__).resolve().parent
program, cli, sample = os.environ["PROGRAM"], os.environ["CLI"], os.environ["SAMPLE"]
NAMES = re.compile(r'^ *([a-z ]+) "([^"]*)"', re.M)
checked = 0

spec = importlib.util.spec_from_file_location("dump", here / "atspi-dump.py")
atspi = importlib.util.module_from_spec(spec)
spec.loader.exec_module(atspi)
atspi.Atspi.init()


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def xdo(*arguments):
    subprocess.run(["xdotool", *map(str, arguments)], check=True, timeout=30)


def dump():
    """Roles and names of all that the window shows, one a line; asked anew each time."""
    app = atspi.find_app("tensormorph", 20)
    if app is None:
        return ""
    atspi.quiet(app.clear_cache)
    return "".join(f'{atspi.quiet(node.get_role_name, "")} "{atspi.quiet(node.get_name, "")}"\n'
                   for _, node in atspi.walk(app))


def fail(message):
    print("FAILED:", message, file=sys.stderr)
    print(dump(), file=sys.stderr)
    sys.exit(1)


def wait(what, look, seconds=60):
    """look(text of the window) until it gives something true."""
    end = time.monotonic() + seconds
    while True:
        found = look(dump())
        if found:
            return found
        if time.monotonic() > end:
            fail(f"waited in vain for {what}")
        time.sleep(0.1)


def canvas_scalar(text):
    """(tensor, index, rest) of the canvas's accessible label where it shows cells and a scalar is selected."""
    found = re.search(r'image "([^"]+), \S+, cells; scalar ([\d, ]+)(?:: ([^"]*))?"', text)
    return found and (found[1], tuple(int(i) for i in found[2].split(", ")), found[3] or "")


def inspector(text):
    """Labels after the inspector's "Scalar [...]" title; {key: text of the label behind it} of the rows and cards."""
    labels = [name for role, name in NAMES.findall(text[text.index('"Inspector"'):]) if role == "label"]
    rows = {}
    for key, value in zip(labels, labels[1:]):
        rows.setdefault(key, value)
    return labels, Rows(rows)


class Rows(dict):
    def __missing__(self, key):
        fail(f"the inspector has no row {key!r}")


def record(tensor, index):
    answer = run(cli, "scalar", "--json", sample, tensor, ",".join(map(str, index)))
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout, parse_float=str, parse_int=str)


def compare(tensor, index, label):
    global checked
    want = record(tensor, index)
    title = f"Scalar [{', '.join(map(str, index))}]"
    text = wait(f"the inspector's {title}", lambda t: f'label "{title}"' in t and t)
    labels, rows = inspector(text)

    def same(what, shown, said):
        global checked
        checked += 1
        if shown != said:
            fail(f"{tensor}{list(index)}: {what} is {shown!r} in the window, {said!r} in the record")

    plain = run(cli, "scalar", sample, tensor, ",".join(map(str, index))).stdout
    if want["quantized"]:
        same("canvas", label, f"raw {want['raw']}, dequantized {want['value']}")
        same("raw", rows["raw (stored)"], want["raw"])
        same("dequantized", rows["dequantized"], want["value"])
        bits = rows[want["raw"]]
        same("bits", want["raw_hex"] in bits and f"{want['raw_bits']} bits" in bits, True)
        formula = next(name for name in labels if name.startswith("value = ")).split("\n")
        same("formula", formula[0], "value = " + want["formula"])
        same("formula's result", formula[-1], "= " + want["value"])
        same("formula's numbers", formula[1][2:] + " = " + want["value"] in plain, True)
        same("scale", rows["scale"], want["scale"])
        for key in "zero_point", "offset":
            if want[key] is not None:
                same(key, rows[key.replace("_", " ")], want[key])
        first, last = int(want["group"]["start"][-1]), int(want["group"]["end"][-1]) - 1
        same("group", any(f"{first} … {last}" in name for name in labels), True)
        for place in want["location"]:
            same("location", f"0x{int(place['byte']):X}" in rows["bits"], True)
    else:
        # For people: the shortest text that reads back to the same stored type, where the record has a float32.
        value = re.search(r"^value +(\S+)$", plain, re.M)[1]
        same("canvas", label, f"value {value}")
        same("value", value in labels, True)
        same("bits", any(want["raw_hex"] in name for name in labels), True)
        same("ordinary dtype is said", any("stored value is the value" in name for name in labels), True)
    same("dtype", want["dtype"] in rows["dtype"], True)


def go_to(address):
    xdo("key", "ctrl+l")
    time.sleep(0.3)
    xdo("key", "ctrl+a")
    xdo("type", "--delay", "25", address)
    time.sleep(0.2)
    xdo("key", "Return")


def one(renderer):
    out = open(os.path.join(os.environ["RUN_GUI_DIR"], "stderr"), "w+")
    app = subprocess.Popen([program, f"--renderer={renderer}", sample], stderr=out, stdout=out,
                           env={**os.environ, "G_DEBUG": "fatal-warnings"})
    wait("the window", lambda text: 'frame "sample.gguf"' in text and '"Inspector"' in text)
    window = run("xdotool", "search", "--sync", "--onlyvisible", "--name", "^sample.gguf$").stdout.split()[-1]
    xdo("windowactivate", "--sync", window)

    # Every kind by OpenGL; of the other painter, which shares all but the painting, one quantized and one ordinary.
    for tensor, start, pointed in [("blk.0.attn_v.weight", (37, 130), True), ("output_norm.weight", (130,), True),
                                   ("blk.0.attn_q.weight", (100, 31), False), ("token_embd.weight", (1021, 64), False),
                                   ("blk.2.attn_k.weight", (60, 100), False)][:5 if renderer == "gl" else 2]:
        go_to(f"{tensor}[{','.join(map(str, start))}]")
        at = wait(f"cells of {tensor}", lambda t: (lambda s: s and s[:2] == (tensor, start) and s[2] and s)(canvas_scalar(t)))
        compare(tensor, start, at[2])
        if not pointed:
            continue

        # A click two cells away from the one in the middle, when the flight is over and the entry's list has gone.
        time.sleep(1)
        where = run(here / "atspi-dump.py", "tensormorph", "--where", "image", tensor).stdout
        x, y = map(int, where.split())
        xdo("mousemove", "--window", window, x + 145, y + 75, "sleep", "0.2", "click", "1")
        clicked = wait("another scalar", lambda t: (lambda s: s and s[1] != start and s[2] and s)(canvas_scalar(t)))
        if len(start) == 2 and not (clicked[1][0] - start[0] in (1, 2) and clicked[1][1] - start[1] in (1, 2, 3)):
            fail(f"clicked right below {start}, and got {clicked[1]}")
        compare(tensor, clicked[1], clicked[2])

        xdo("key", "Right")
        moved = wait("the scalar to the right", lambda t: (lambda s: s and s[1] != clicked[1] and s[2] and s)(canvas_scalar(t)))
        if moved[1] != (*clicked[1][:-1], clicked[1][-1] + 1):
            fail(f"right of {clicked[1]} came {moved[1]}")
        compare(tensor, moved[1], moved[2])

    xdo("key", "ctrl+q")
    if app.wait(timeout=20) != 0:
        fail(f"ended with status {app.returncode}")
    out.seek(0)
    said = out.read()
    if said:
        fail("wrote on stderr: " + said)
    print(f"ok: {renderer}, {checked} comparisons")


for each in sys.argv[1:] or ["gl", "cpu"]:
    one(each)
