#!/bin/bash
# Keys, palette, copying, help windows.
. "$(dirname "$0")"/window.sh
start --renderer=cpu "$SAMPLE"; see frame sample.gguf; window '^sample.gguf$'; xdotool windowactivate --sync "$W"
see label "tensors read in"

dump | grep -q 'button "Boundaries".*pressed' || fail "boundaries are not on at the start"
xdotool key b; sleep 0.3; dump | grep -q 'button "Boundaries".*pressed' && fail "B does not toggle boundaries"
xdotool key b
for pair in "2 Dtype" "4 Raw" "5 Scale" "1 None" "3 Value"; do
  xdotool key "${pair% *}"; see button "Overlay: ${pair#* }"
done
say "B and 1 … 5"

xdotool key ctrl+k; see entry "Command palette"
xdotool type --delay 40 'blk.0.attn_v.weight[37,130]'; xdotool key Return
see image "blk.0.attn_v.weight"
xdotool key ctrl+c; see label "Copied the value"
xdotool key ctrl+shift+c; see label "Copied the record"
say "the palette goes to an address, value and record are copied"

xdotool key alt+Up; gone image "scalar 37, 130"
xdotool key alt+Left; see image "scalar 37, 130"
say "back in history"

# letters typed into an entry are text, not keys of the window
xdotool key ctrl+f; xdotool type --delay 40 'b2'; sleep 0.4
dump | grep -q 'button "Boundaries".*pressed' || fail "typing b in the filter toggled boundaries"
see button "Overlay: Value"
xdotool key ctrl+a BackSpace Escape
say "typing in an entry stays text"

# the panels' edges are in the Tab order and move by the arrow keys
xdotool key ctrl+f Tab Tab # filter, list, edge: Tab does not walk the rows
for i in $(seq 50); do dump | grep -q 'separator "Width of the outliner: 260 pixels".*focused' && break; sleep 0.1; done
xdotool key Right Right Left; see separator "Width of the outliner: 276 pixels"
xdotool key ctrl+Left; see separator "Width of the outliner: 212 pixels"
say "panels are resized by keys"

xdotool key F1; see frame Glossary; see label "super-block"
timeout 10 xdotool search --sync --onlyvisible --name '^Glossary$' >/dev/null; xdotool key Escape Escape; gone frame Glossary
xdotool key ctrl+question; see frame Shortcuts; see label "Boundaries on and off"; xdotool key Escape; gone frame Shortcuts
say "glossary and shortcuts"
xdotool key F10; see label "Colours" # the items of a menu have no names on every GTK, its headings do
dump | grep -E '"(Gtk|Tm)[A-Z]' | grep -v GtkTooltipWindow && fail "a control has its class's name"
say "no control keeps a toolkit's name"
xdotool key Escape; gone label "Colours"
quit
