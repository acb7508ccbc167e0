#!/bin/bash
# A file that changes on disk: reloaded with its selection; refused, and the old one stays; shards of a set are one window.
. "$(dirname "$0")"/window.sh
file=$RUN_GUI_DIR/model.gguf
cp "$SAMPLE" "$file"
start --renderer=cpu "$file"; see frame model.gguf; window '^model.gguf$'; xdotool windowactivate --sync "$W"
see label "tensors read in"
xdotool key ctrl+k; xdotool type --delay 40 'blk.0.attn_v.weight[37,130]'; xdotool key Return
see image "scalar 37, 130"
cp "$SAMPLE" "$file.new"; mv "$file.new" "$file"
xdotool key ctrl+r; sleep 1; see image "scalar 37, 130"
say "reloaded, the same scalar is selected"

truncate -s 2000000 "$file" # under the open window, without a word
xdotool key ctrl+k; see entry "Command palette"; xdotool type --delay 40 'blk.5.ffn_up.weight[3,3]'; xdotool key Return
see image "scalar 3, 3: the file now ends"
xdotool key alt+Up; see "" "values could not be read"
cp "$SAMPLE" "$file.new"; mv "$file.new" "$file"
xdotool key ctrl+r; gone "" "values could not be read"; see "" "largest magnitude"
say "a file that was cut is said to be unreadable, not to be zeros; reloaded, it is there again"

printf 'not a model' >"$file.new"; mv "$file.new" "$file"
xdotool key ctrl+r; see label "model.gguf:"
see image "blk.5.ffn_up.weight, Q4_K, heat map"
say "what cannot be read is a banner; the model stays"

xdotool key ctrl+w
for i in $(seq 100); do kill -0 "$app" 2>/dev/null || break; sleep 0.1; done
kill -0 "$app" 2>/dev/null && fail "still runs after the last window was closed"
[ ! -s "$err" ] || fail "wrote on stderr"
say "closing the last window ends the program"

start; see frame Tensormorph; see button "Open model.gguf"
quit; say "it is among the recent ones"
