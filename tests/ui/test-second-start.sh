#!/bin/bash
# One process: a second start hands its files over and ends; --new-instance does not.
. "$(dirname "$0")"/window.sh
cp "$SAMPLE" "$RUN_GUI_DIR/other.gguf"; cp "$SAMPLE" "$RUN_GUI_DIR/third.gguf"
start "$SAMPLE"; see frame sample.gguf
(cd "$RUN_GUI_DIR" && G_DEBUG=fatal-warnings timeout 20 "$PROGRAM" other.gguf 2>"$RUN_GUI_DIR/err2") || fail "the second start did not end well"
[ ! -s "$RUN_GUI_DIR/err2" ] || fail "the second start wrote on stderr: $(cat "$RUN_GUI_DIR/err2")"
see frame other.gguf; see frame sample.gguf
say "handed over, relative name included"

G_DEBUG=fatal-warnings "$PROGRAM" --new-instance "$RUN_GUI_DIR/third.gguf" 2>"$RUN_GUI_DIR/err2" & second=$!
window '^third.gguf$'
kill -0 $second 2>/dev/null || fail "--new-instance handed over"
kill -0 $app 2>/dev/null || fail "the first one ended"
xdotool windowactivate --sync "$W" key ctrl+w
for i in $(seq 50); do kill -0 $second 2>/dev/null || break; sleep 0.1; done
kill -0 $second 2>/dev/null && fail "the new instance still runs after Ctrl+W"
[ ! -s "$RUN_GUI_DIR/err2" ] || fail "the new instance wrote on stderr"
say "--new-instance is a process of its own"
window '^other.gguf$'; xdotool windowactivate --sync "$W"
quit

# The name of a process that is just ending: it is owned, and nobody answers.
/usr/bin/python3 - "$RUN_GUI_DIR/owned" <<'P' & owner=$!
import sys, time
import gi
gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib
bus = Gio.bus_get_sync(Gio.BusType.SESSION)
bus.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
              GLib.Variant("(su)", ("org.tensormorph.Tensormorph", 4)), None, 0, -1)
open(sys.argv[1], "w").close()
time.sleep(1.5)
P
until [ -e "$RUN_GUI_DIR/owned" ]; do sleep 0.05; done
start "$SAMPLE"; window '^sample.gguf$'; see label "tensors read in"; xdotool windowactivate --sync "$W"
wait $owner
say "started while another one ends"
quit
