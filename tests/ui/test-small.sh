#!/bin/bash
# 360 × 480: side panels slide over the canvas, everything is reached by keys and buttons.
. "$(dirname "$0")"/window.sh
start --renderer=cpu "$SAMPLE"; see frame sample.gguf; window '^sample.gguf$'
for i in 1 2 3 4 5; do
  xdotool windowsize "$W" 360 480; sleep 0.4
  eval "$(xdotool getwindowgeometry --shell "$W")"
  [ "$WIDTH" -le 362 ] && [ "$HEIGHT" -le 482 ] && break
done
[ "$WIDTH" -le 362 ] && [ "$HEIGHT" -le 482 ] || fail "the window is $WIDTH × $HEIGHT"
say "the window gets that small"

see button Outliner; see button Inspector
xdotool windowactivate --sync "$W"
xdotool key F9
for i in $(seq 50); do dump | grep -q 'button "Outliner".*pressed' && break; sleep 0.1; done
dump | grep -q 'button "Outliner".*pressed' || fail "F9 does not slide the outliner in"
"$here"/screenshot "$RUN_GUI_DIR/outliner.png" '^sample.gguf$'
xdotool key Escape
for i in $(seq 50); do dump | grep -q 'button "Outliner".*pressed' || break; sleep 0.1; done
dump | grep -q 'button "Outliner".*pressed' && fail "Escape does not close the outliner"
press button Inspector
for i in $(seq 50); do dump | grep -q 'button "Inspector".*pressed' && break; sleep 0.1; done
dump | grep -q 'button "Inspector".*pressed' || fail "its button does not slide the inspector in"
say "panels slide in by key and button, out by Escape"
xdotool key Escape
quit
