#!/bin/bash
# The panels under the canvas and beside it: the colour range dragged in the histogram, a comparison that is cancelled, read
# again and closed while it runs, tensors without a counterpart on both sides, scales against the reference, filters.
. "$(dirname "$0")"/window.sh
make=$here/make-models.py
filter() { # filter NAME TEXT: types it into the filter with this name
  set -- "$2" $("$here"/atspi-dump.py -w 20 tensormorph --where entry "$1")
  [ $# = 3 ] || fail "no filter $1"
  xdotool mousemove --window "$W" "$2" $(($3 + 8)) sleep 0.2 click 1 key ctrl+a; xdotool type --delay 10 "$1"
}
go() { xdotool key ctrl+l; see text Address; sleep 0.3; xdotool key ctrl+a; xdotool type --delay 10 "$1"; xdotool key Return; }

"$make" pair "$RUN_GUI_DIR/one.gguf" "$RUN_GUI_DIR/other.gguf"
start "$RUN_GUI_DIR/one.gguf"; window '^one.gguf$'; see label "tensors read in"; xdotool windowactivate --sync "$W"
across=1000 drop "$RUN_GUI_DIR/other.gguf"
see label "3 tensors aligned, 4 left over"
xdotool windowactivate --sync "$W"
set -- $("$here"/atspi-dump.py -w 20 tensormorph --where button "4 left over"); xdotool mousemove --window "$W" "$1" $(($2 + 8)) sleep 0.3 click 1 # GTK 4.18 gives its upper edge
for text in "candidate only: candidate_adapter.0.weight" "candidate only: candidate_adapter.1.weight" \
  "reference only: reference_adapter.0.weight" "reference only: reference_adapter.1.weight"; do see label "$text" 20; done
xdotool key Escape
say "what has no counterpart is listed for both sides"
filter "Filter the comparison" "sqnr>20 and name:blk.1"
see label "1 of 3" 20
filter "Filter the comparison" "sqnr>20 and colour:blue"
see label "this field is not known at character 13" 20
filter "Filter the comparison" "sqnr<20"; see label "No tensor is like this" 20
xdotool key Escape; see label "Worst first" 20
say "the comparison is filtered by its own figures, and says what it cannot read"
xdotool key ctrl+t; see label "5 tensors" 20
filter "Filter the table" "absmax>3.4 or zeros>50%"; see label "3 of 5" 20
xdotool key Escape; see label "5 tensors" 20
say "the table too"
quit

start "$SAMPLE"; window '^sample.gguf$'; see label "tensors read in"; xdotool windowactivate --sync "$W"
across=1000 drop "$REFERENCE"
see label "57 tensors aligned"; xdotool windowactivate --sync "$W"
go blk.2.attn_v.weight
see label "Scales against the reference" 20; see label "groups clips: their codes reach" 20
go blk.2.attn_output.weight
see label "groups clip" 20
say "scales against the reference, with and without clipping"
press button "End the comparison"; gone label "57 tensors aligned"

xdotool key 3; see label "Distribution" 20
legend() { dump | sed -n 's/.*label "\(−[0-9.]* … +[0-9.]*\)".*/\1/p' | head -1; }
before=$(legend); [ -n "$before" ] || fail "the legend has no range"
set -- $("$here"/atspi-dump.py -w 20 tensormorph --where image "Histogram")
[ $# = 2 ] || fail "no histogram"
xdotool mousemove --window "$W" "$1" "$2" sleep 0.2 mousedown 1 sleep 0.1 mousemove_relative 20 0 sleep 0.1 mousemove_relative 30 0 sleep 0.2
for i in $(seq 40); do after=$(legend); [ "$after" != "$before" ] && break; sleep 0.1; done
[ "$after" != "$before" ] || fail "dragging in the histogram does not change the range $before"
xdotool mousemove_relative -- -20 0 sleep 0.3 mouseup 1
for i in $(seq 40); do last=$(legend); [ "$last" != "$after" ] && break; sleep 0.1; done
[ "$last" != "$after" ] || fail "the range stands still while the drag goes on: $after"
xdotool click --repeat 2 --delay 60 1
for i in $(seq 40); do last=$(legend); [ "$last" = "$before" ] && break; sleep 0.1; done
[ "$last" = "$before" ] || fail "a double click does not take the range back: $last, not $before"
say "the colour range by dragging: $before, $after, and back"
quit

"$make" large "$RUN_GUI_DIR/large.gguf"
start "$RUN_GUI_DIR/large.gguf"; window '^large.gguf$'; see label "tensors read in"; xdotool windowactivate --sync "$W"
across=1000 drop "$RUN_GUI_DIR/large.gguf"
see label "Comparing with large.gguf" 20
press button "Cancel"
see label "Comparing with large.gguf was cancelled" 20
gone button "End the comparison"
say "cancelled by its button"
across=1000 drop "$RUN_GUI_DIR/large.gguf"
see label "Comparing with large.gguf" 20
xdotool windowactivate --sync "$W"; xdotool key ctrl+r
see label "was cancelled" 20
gone button "End the comparison"
say "reading the model again ends it"
across=1000 drop "$RUN_GUI_DIR/large.gguf"
see label "Comparing with large.gguf" 20
xdotool windowactivate --sync "$W"
quit
say "closing the window while it runs"

start "$RUN_GUI_DIR/large.gguf"; window '^large.gguf$'; see label "tensors read in"; xdotool windowactivate --sync "$W"
go blk.0.ffn_up.weight
xdotool key 7; see button "Overlay: Zeros" 20
xdotool key 3; see button "Overlay: Value" 20
go blk.7.ffn_up.weight
see button "Count zeros" 20
say "leaving the overlay ends the counting, and the card says so"
quit
