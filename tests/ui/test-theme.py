#!/usr/bin/python3
"""Colours follow the desktop's settings portal (a made-up one on the private bus), at the start and when they change."""
import os
import pathlib
import subprocess
import sys
import threading
import time

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

here = pathlib.Path(__file__).resolve().parent
INTERFACE = """<node><interface name="org.freedesktop.portal.Settings">
<method name="ReadAll"><arg type="as" direction="in"/><arg type="a{sa{sv}}" direction="out"/></method>
<signal name="SettingChanged"><arg type="s"/><arg type="s"/><arg type="v"/></signal>
</interface></node>"""
GROUP, PATH = "org.freedesktop.appearance", "/org/freedesktop/portal/desktop"
values = {"color-scheme": GLib.Variant("u", 1), "accent-color": GLib.Variant("(ddd)", (0.9, 0.1, 0.5))}


def fail(message):
    print("FAILED:", message, file=sys.stderr)
    sys.exit(1)


def answer(connection, sender, path, interface, method, parameters, invocation):
    invocation.return_value(GLib.Variant("(a{sa{sv}})", ({GROUP: values},)))


bus = Gio.bus_get_sync(Gio.BusType.SESSION)
bus.register_object(PATH, Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces[0], answer)
Gio.bus_own_name_on_connection(bus, "org.freedesktop.portal.Desktop", Gio.BusNameOwnerFlags.NONE)
loop = GLib.MainLoop()
threading.Thread(target=loop.run, daemon=True).start()

out = open(os.path.join(os.environ["RUN_GUI_DIR"], "stderr"), "w+")
app = subprocess.Popen([os.environ["PROGRAM"]], stderr=out, env={**os.environ, "G_DEBUG": "fatal-warnings"})
window = subprocess.run(["xdotool", "search", "--sync", "--onlyvisible", "--name", "^Tensormorph$"], timeout=60,
                        capture_output=True, text=True).stdout.split()[-1]


def colours():
    """The commonest colours of the window."""
    shot = subprocess.run(["import", "-silent", "-window", window, "-depth", "8", "-format", "%c", "histogram:info:-"], timeout=30,
                          capture_output=True, text=True).stdout
    rows = sorted(shot.splitlines(), key=lambda row: -int(row.split(":")[0] or 0) if ":" in row else 0)
    return " ".join(row.split("#")[1][:6].lower() for row in rows[:12] if "#" in row)


def wait(what, test):
    end = time.monotonic() + 30
    while not test(colours()):
        if time.monotonic() > end:
            fail(f"{what}: the window's colours are {colours()}")
        time.sleep(0.3)
    print("ok:", what)


def change(key, value):
    values[key] = value
    bus.emit_signal(None, PATH, "org.freedesktop.portal.Settings", "SettingChanged",
                    GLib.Variant("(ssv)", (GROUP, key, value)))


wait("dark at the start", lambda seen: seen.startswith("1e1e1e"))
wait("with the desktop's accent", lambda seen: "e61a80" in seen)
change("color-scheme", GLib.Variant("u", 2))
wait("light when it changes", lambda seen: seen.startswith("ffffff"))
change("accent-color", GLib.Variant("(ddd)", (2.0, 0.0, 0.0)))
wait("an accent out of range is none", lambda seen: "3584e4" in seen)
change("color-scheme", GLib.Variant("s", "nonsense"))
change("color-scheme", GLib.Variant("u", 77))
wait("values unknown to us do no harm", lambda seen: seen.startswith("ffffff"))
subprocess.run(["xdotool", "windowactivate", "--sync", window, "key", "ctrl+q"], timeout=30)
if app.wait(timeout=20) != 0:
    fail("did not end well")
out.seek(0)
if out.read():
    fail("wrote on stderr")
