#!/usr/bin/python3
"""Every action that a key, a menu or a template names is one that exists, and every key is listed once."""
import pathlib
import re
import sys

ui = pathlib.Path(sys.argv[1])
text = {p.name: p.read_text() for p in sorted(ui.iterdir()) if p.suffix in (".c", ".ui")}
known = {"window.close"}
known |= {"win." + n for n in re.findall(r'^  \{ "([a-z-]+)", ', text["window-actions.c"], re.M)}
known |= {"app." + n for n in re.findall(r'^  \{ "([a-z-]+)", ', text["application.c"], re.M)}
known |= set(re.findall(r'\{ "(canvas\.[a-z-]+)", (?:NULL|"s"), ', text["canvas-keys.c"]))
assert {"win.open", "app.quit", "canvas.fit"} <= known, known

faults = []
named = 0
for name, body in text.items():
    for action in re.findall(r'\b((?:win|app|canvas)\.[a-z-]+)(?:::[a-z]+)?["<]', body):
        named += 1
        if action not in known:
            faults.append(f"{name} names {action}, which does not exist")
assert named > 60, named

keys = {}
rows = re.findall(r'\{ TM_KEY_\w+, \w+, (?:"[^"]*"|NULL), ("[^"]*"|NULL), "([^"]*)" \}', text["keys.c"])
assert len(rows) > 35, len(rows)
for action, accels in rows:
    for accel in accels.split():
        if accel in keys:
            faults.append(f"{accel} is the key of {keys[accel]} and of {action}")
        keys[accel] = action
print("\n".join(faults) or f"{named} mentions, {len(keys)} keys")
sys.exit(bool(faults))
