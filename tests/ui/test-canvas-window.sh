#!/bin/bash
# The canvas in the whole program: words against the command line's records, pictures of both painters, no OpenGL at all.
. "$(dirname "$0")"/window.sh
# on a busy machine a picture may need more than one wait to stand still
shot() { local i; for i in 1 2 3; do "$here"/screenshot "$RUN_GUI_DIR/$1.png" "^sample.gguf$" 2>/dev/null && return; done; fail "no still picture for $1"; }
# picture of the canvas alone: what is between the side panes and above the status line
cut() { convert "$RUN_GUI_DIR/$1.png" -gravity Center -crop 500x500+0+0 +repage "$RUN_GUI_DIR/$1-cut.png"; }
rmse() { compare -metric RMSE "$RUN_GUI_DIR/$1-cut.png" "$RUN_GUI_DIR/$2-cut.png" null: 2>&1 | sed 's/.*(\(.*\))/\1/'; }
go() { xdotool key ctrl+l; see text Address; sleep 0.2; xdotool type --delay 20 "$1"; xdotool key Return; }
open_model() { start "$@" "$SAMPLE"; see frame sample.gguf; window '^sample.gguf$'; xdotool windowactivate --sync "$W"; see image "nothing selected"; xdotool mousemove 5 5; }

# "raw 4, dequantized 0.061523438", as the command line has it
record() { "$CLI" scalar --json "$SAMPLE" "$1" "$2" | sed 's/.*"raw":\([-0-9]*\),.*"value":\([-0-9.e]*\),.*/raw \1, dequantized \2/'; }

open_model --renderer=gl
go 'blk.2.attn_q.weight[37,100]'
see image "blk.2.attn_q.weight, Q4_K, cells; scalar 37, 100: $(record blk.2.attn_q.weight 37,100)"
xdotool key Right
see image "scalar 37, 101: $(record blk.2.attn_q.weight 37,101)"
say "the accessible label has the record's numbers"

go 'blk.2.attn_qq'; see label "attn_qq"; xdotool key Escape
say "a wrong address is answered under the bar"

go 'blk.2.ffn_gate.weight'; see image "blk.2.ffn_gate.weight, Q4_K, heat map"; shot gl; cut gl
[ "$(identify -format %k "$RUN_GUI_DIR/gl-cut.png")" -gt 100 ] || fail "the heat map is flat"
xdotool key b; sleep 0.3; shot off; cut off
xdotool key b; sleep 0.3; shot on; cut on
awk "BEGIN { exit !($(rmse gl off) > 0.01) }" || fail "B does not change the picture"
awk "BEGIN { exit !($(rmse gl on) < 0.0001) }" || fail "B twice is not the picture from before"
see "" "thin line: group 32" 10
say "boundaries go and come back, the legend names them with numbers"
quit

open_model --renderer=cpu
go 'blk.2.ffn_gate.weight'; see image "blk.2.ffn_gate.weight, Q4_K, heat map"; shot cpu; cut cpu
awk "BEGIN { exit !($(rmse gl cpu) < 0.002) }" || fail "painters differ: $(rmse gl cpu)"
say "both painters paint the same"
quit

# GTK itself says on stderr that it cannot use OpenGL: that is not ours.
no_gl
"$PROGRAM" "$SAMPLE" >"$out" 2>"$RUN_GUI_DIR/toolkit" & app=$!
see frame sample.gguf; window '^sample.gguf$'; xdotool windowactivate --sync "$W"; xdotool mousemove 5 5
see label "no OpenGL"
go 'blk.2.ffn_gate.weight'; see image "blk.2.ffn_gate.weight, Q4_K, heat map"; shot none; cut none
awk "BEGIN { exit !($(rmse gl none) < 0.002) }" || fail "without OpenGL the picture differs"
say "without OpenGL the CPU paints, and the status line says so"
quit
