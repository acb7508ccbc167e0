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
