# Sourced by the window tests. They run under run-gui with: PROGRAM CLI SAMPLE DRAG-FILES in the environment.
set -u
here=$(dirname "${BASH_SOURCE[0]}")
app= out=$RUN_GUI_DIR/out err=$RUN_GUI_DIR/err

fail() { echo "FAILED: $*" >&2; [ -s "$err" ] && sed 's/^/stderr: /' "$err" >&2; dump >&2; exit 1; }
say() { echo "ok: $*"; }
dump() { "$here"/atspi-dump.py -w 5 tensormorph 2>&1; }
# start ARGUMENT...: the program in the background
start() { G_DEBUG=fatal-warnings "$PROGRAM" "$@" >"$out" 2>"$err" & app=$!; }
# see ROLE TEXT: wait until something with this text is there
see() { "$here"/atspi-dump.py -w "${3:-60}" tensormorph --wait "$1" "$2" >/dev/null || fail "no $1 with “$2”"; }
gone() { # gone ROLE TEXT: wait until nothing has this text
  local i
  for i in $(seq 60); do
    "$here"/atspi-dump.py -w 1 tensormorph --find "$1" "$2" >/dev/null 2>&1 || return 0
    sleep 0.2
  done
  fail "$1 with “$2” is still there"
}
press() { "$here"/atspi-dump.py -w 10 tensormorph --press "$1" "$2" >/dev/null || fail "cannot press $1 “$2”"; }
window() { # window TITLE-REGEX: sets W and its place X Y WIDTH HEIGHT
  W=$(timeout 30 xdotool search --sync --onlyvisible --name "$1" | tail -1)
  [ -n "$W" ] || fail "no window is called $1"
  eval "$(xdotool getwindowgeometry --shell "$W")"
}
quit() { # closes the program by its key and looks at what it leaves behind
  xdotool key ctrl+q
  local i
  for i in $(seq 100); do kill -0 "$app" 2>/dev/null || break; sleep 0.1; done
  kill -0 "$app" 2>/dev/null && fail "still runs after Ctrl+Q"
  wait "$app"; local status=$?
  [ $status = 0 ] || fail "ended with status $status"
  [ ! -s "$err" ] || fail "wrote on stderr"
  [ ! -s "$out" ] || fail "wrote on stdout"
}
# what takes OpenGL away from GTK: its name changed, and a newer GTK says so on stderr when it sees the old one
no_gl() {
  if pkg-config --atleast-version=4.14 gtk4; then export GDK_DISABLE=gl; else export GDK_DEBUG=gl-disable; fi
}
# drop FILE...: a real drag from another program's window onto ours (W), by pointer; across: how far from its left
drop() {
  local d status
  rm -f "$RUN_GUI_DIR/drag" # or the word of the drag before is taken for this one's
  timeout 60 "$DRAG" -x -g 120x80+10+10 "$@" >"$RUN_GUI_DIR/drag" & d=$!
  until grep -qs ready "$RUN_GUI_DIR/drag"; do sleep 0.05; done
  eval "$(xdotool getwindowgeometry --shell "$W")"
  xdotool mousemove 60 50 mousedown 1 sleep 0.1 mousemove 80 60 mousemove 120 90 \
    mousemove $((X + ${across:-400})) $((Y + 350)) sleep 0.2 mousemove $((X + ${across:-400} + 10)) $((Y + 360)) sleep 0.3 mouseup 1
  wait $d; status=$?
  [ $status = 0 ] || fail "the drop was not taken"
}
