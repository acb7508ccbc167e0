#!/usr/bin/python3
"""How long the program's main loop lets others wait: asks it for its actions over the bus, again and again, until FILE is gone;
then prints the longest wait in milliseconds."""
import pathlib
import sys
import time

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio  # noqa: E402

bus = Gio.bus_get_sync(Gio.BusType.SESSION)
flag, longest = pathlib.Path(sys.argv[1]), 0.0
while flag.exists():
    start = time.monotonic()
    bus.call_sync("org.tensormorph.Tensormorph", "/org/tensormorph/Tensormorph", "org.gtk.Actions", "List", None, None,
                  Gio.DBusCallFlags.NONE, 60000, None)
    longest = max(longest, time.monotonic() - start)
    time.sleep(0.005)
print(round(longest * 1000))
