#!/bin/bash
# A table of 100 000 tensors: shown, sorted, scrolled and filtered while the main loop goes on.
. "$(dirname "$0")"/window.sh
most=${MOST_MS:-1500} # a busy machine; done on the main loop, sorting alone would take longer by far
"$here"/make-models.py many "$RUN_GUI_DIR/many.gguf" || fail "no model"
export GSK_RENDERER=cairo # the quickest where there is no GPU
start --renderer=cpu "$RUN_GUI_DIR/many.gguf"; window '^many.gguf$'; see label "tensors read in"; xdotool windowactivate --sync "$W"
for i in $(seq 100); do [ "$(dump | grep -c 'image "')" -gt 0 ] && break; done
sleep 3 # the layout is there and nothing else runs
# calm WHAT COMMAND...: runs it, and says how long the main loop was away: at best of three times, since others work here too
calm() {
  local what=$1 watcher longest try
  shift
  for try in 1 2 3; do
    touch "$RUN_GUI_DIR/watching"
    "$here"/watch-main-loop.py "$RUN_GUI_DIR/watching" >"$RUN_GUI_DIR/longest" & watcher=$!
    sleep 0.5
    "$@"
    rm "$RUN_GUI_DIR/watching"; wait $watcher || fail "the program does not answer"
    longest=$(cat "$RUN_GUI_DIR/longest")
    [ "$longest" -le "$most" ] && { say "$what: at most $longest ms"; return; }
    say "$what, try $try: $longest ms"
  done
  fail "$what: the main loop was away for $longest ms"
}

show() { xdotool key ctrl+t; sleep 3; [ "${shown:-0}" = 1 ] && xdotool key ctrl+t; shown=1; sleep 1; }
calm "shown" show
X=$((WIDTH / 2)) Y=$((HEIGHT - 120))
sort() {
  local i
  for i in 1 2 3; do xdotool mousemove --window "$W" $((300 + 20)) "$(cat "$RUN_GUI_DIR/head")" click 1; sleep 2; done
}
# the line of column heads: the only label of this text in the table
"$here"/atspi-dump.py -w 30 tensormorph --where label "bits/w" >"$RUN_GUI_DIR/place" 2>/dev/null || "$here"/atspi-dump.py -w 30 tensormorph --where button "bits/w" >"$RUN_GUI_DIR/place" || fail "no column bits/w"
cut -d' ' -f2 "$RUN_GUI_DIR/place" >"$RUN_GUI_DIR/head"
calm "sorted by name, down and back" sort
scroll() { local i; for i in $(seq 30); do xdotool mousemove --window "$W" "$X" "$Y" click --repeat 10 --delay 5 5; done; xdotool mousemove --window "$W" "$X" "$Y" click 1 key End sleep 1 key Home sleep 1; }
calm "scrolled" scroll
write() {
  set -- $("$here"/atspi-dump.py -w 20 tensormorph --where entry "Filter the table")
  xdotool mousemove --window "$W" "$1" "$2" click 1; xdotool type --delay 60 "weight_99 and rows>1"; sleep 3
}
calm "a filter typed" write
see label " of 100" 20
dump | grep -o 'label "[^"]* of 100[^"]*"' | head -1
quit
