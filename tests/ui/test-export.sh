#!/bin/bash
# Ctrl+E: picture, region and report are written where the person says.
. "$(dirname "$0")"/window.sh
place=$RUN_GUI_DIR/taken; mkdir "$place"

# take N FILE: opens a region, chooses the Nth kind, types the path into the file dialog
take() {
  start "$SAMPLE"; window '^sample.gguf$'; see label "tensors read in"
  xdotool key ctrl+l; sleep 0.3; xdotool type "blk.2.attn_output.weight[0:3,0:4]"; xdotool key Return
  see label "blk.2.attn_output.weight[0:3,0:4]"
  xdotool key ctrl+e; see button "Save…"
  local i
  sleep 0.3; xdotool key space; sleep 0.5 # the list has the focus
  for i in $(seq "$1"); do xdotool key Down; done
  xdotool key Return; sleep 0.3
  press button "Save…"
  timeout 20 xdotool search --sync --onlyvisible --name "[(](PNG|SVG|CSV|HTML)[)]" >/dev/null || fail "no file dialog"
  sleep 1
  xdotool key ctrl+a; xdotool type "$place/$2"; xdotool key Return
  xdotool mousemove 2 2 # over the canvas the status line says what is under the pointer
  see label "Saved $2"
  gone button "Save…"
  [ -s "$place/$2" ] || fail "$2 is empty"
  xdotool windowactivate --sync "$W" # two dialogs have closed: the keys may still be theirs
  sleep 0.5
  quit
}

take 1 view.svg
python3 -c 'import sys, xml.dom.minidom as x; d = x.parse(sys.argv[1]); assert d.getElementsByTagName("text") and d.getElementsByTagName("rect")' \
  "$place/view.svg" || fail "view.svg is no SVG with boxes and words"
say "the view as SVG"
take 4 codes.csv
[ "$(wc -l <"$place/codes.csv")" = 3 ] || fail "codes.csv has not three rows: $(cat "$place/codes.csv")"
grep -qxE '[0-9]+(, ?[0-9]+){3}' "$place/codes.csv" || fail "codes.csv has no four codes a row"
say "raw codes of a region as CSV"
take 6 report.html
grep -q "blk.2.attn_output.weight" "$place/report.html" || fail "the report has no tensor"
say "a report"
