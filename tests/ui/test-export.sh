#!/bin/bash
# Picture, region and report are written where the person says, one after the other in one session; the status line says so
# over a pointer that rests on the canvas, and makes way when it moves.
. "$(dirname "$0")"/window.sh
place=$RUN_GUI_DIR/taken; mkdir "$place"

go() { xdotool key ctrl+l; see text Address; sleep 0.3; xdotool key ctrl+a; xdotool type --delay 20 "$1"; xdotool key Return; }
# choose DOWN: that many kinds further down in the dialog's list
choose() {
  see button "Save…"
  local i
  sleep 0.3
  [ "$1" = 0 ] && return
  xdotool key space; sleep 0.5 # the list has the focus
  for i in $(seq "$1"); do xdotool key Down; done
  xdotool key Return; sleep 0.3
}
# save FILE: types the path into the file dialog
save() {
  press button "Save…"
  timeout 20 xdotool search --sync --onlyvisible --name "[(](PNG|SVG|CSV|NPY|HTML|JSON)[)]" >/dev/null || fail "no file dialog"
  sleep 1
  xdotool key ctrl+a; xdotool type "$place/$1"; xdotool mousemove --window "$W" $((WIDTH / 2)) $((HEIGHT / 2)); xdotool key Return
  see label "Saved $1" 10
  gone button "Save…"
  sleep 1
  see label "Saved $1" 2 # the pointer is on the canvas and rests
  xdotool mousemove_relative 3 3
  gone label "Saved $1"
  [ -s "$place/$1" ] || fail "$1 is empty"
  xdotool windowactivate --sync "$W" # two dialogs have closed: the keys may still be theirs
  sleep 0.5
}
# menu TEXT UP: a right click in the middle of the canvas, and this entry, so many from the end (by keys: an entry pressed
# through the accessibility bus leaves GTK's pointer grab behind)
menu() {
  xdotool mousemove --window "$W" $((WIDTH / 2)) $((HEIGHT / 2)) sleep 0.3 click 3
  see item "$1"; sleep 0.3
  local i
  for i in $(seq "$2"); do xdotool key Up; done
  xdotool key Return
}

start "$SAMPLE"; window '^sample.gguf$'; see label "tensors read in"; xdotool windowactivate --sync "$W"
go "blk.2.attn_output.weight[0:3,0:4]"
see label "blk.2.attn_output.weight[0:3,0:4]"
xdotool key ctrl+e; choose 1; save view.svg
python3 -c 'import sys, xml.dom.minidom as x; d = x.parse(sys.argv[1]); assert d.getElementsByTagName("text") and d.getElementsByTagName("rect")' \
  "$place/view.svg" || fail "view.svg is no SVG with boxes and words"
say "the view as SVG"
xdotool key ctrl+e; choose 4; save codes.csv
[ "$(wc -l <"$place/codes.csv")" = 3 ] || fail "codes.csv has not three rows: $(cat "$place/codes.csv")"
grep -qxE '[0-9]+(, ?[0-9]+){3}' "$place/codes.csv" || fail "codes.csv has no four codes a row"
say "raw codes of a region as CSV"

xdotool key ctrl+e; choose 6; save report.html
grep -q "blk.2.attn_output.weight" "$place/report.html" || fail "the report has no tensor"
say "a report"

# the region fills the view: a right click in the middle is in it
xdotool key f; sleep 0.6
menu "Export region…" 2; see label "blk.2.attn_output.weight[0:3,0:4]: 12 elements"; choose 0; save values.csv
"$CLI" values "$SAMPLE" blk.2.attn_output.weight --region 0:3,0:4 -o "$place/expected.csv" || fail "the command line exports nothing"
cmp "$place/values.csv" "$place/expected.csv" || fail "values.csv is not what the command line writes"
say "a region's values by the canvas's menu"
quit
