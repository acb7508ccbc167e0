#!/bin/bash
# Zeros by cause and backend support: their colours where a mask was planted, their legend, their cards; and taking them back.
. "$(dirname "$0")"/window.sh
pruned=173c8f rounded=e8b010 revived=d13ddc plain=95b9bd native=2b9c86 fallback=e6b422

# Rows 0–15 zero in both, 16–31 in the candidate alone, 32–47 in the reference alone, 48–63 in neither.
python3 - "$RUN_GUI_DIR" <<'P' || fail "no models"
import json, random, struct, sys
random.seed(5)
reference = [random.choice((-1, 1)) * random.uniform(0.5, 1) for _ in range(64 * 64)]
candidate = [x + random.uniform(-0.004, 0.004) for x in reference]
for i in range(64 * 64):
    band = i // 64 // 16
    if band in (0, 2): reference[i] = 0.0
    if band in (0, 1): candidate[i] = 0.0
for name, values in (("planted", candidate), ("reference", reference)):
    data = struct.pack("<4096f", *values)
    other = struct.pack("<1024f", *[random.Random(9).uniform(0.5, 1) for _ in range(1024)])
    header = json.dumps({"w.weight": {"dtype": "F32", "shape": [64, 64], "data_offsets": [0, len(data)]},
                         "x.weight": {"dtype": "F32", "shape": [32, 32], "data_offsets": [len(data), len(data) + len(other)]}}).encode()
    header += b" " * (-len(header) % 8)
    open(f"{sys.argv[1]}/{name}.safetensors", "wb").write(struct.pack("<Q", len(header)) + header + data + other)
P
go() { xdotool key ctrl+l; sleep 0.3; xdotool type "$1"; xdotool key Return; see image "${2:-$1}"; }
# count COLOUR: pixels of exactly this colour in the window, and the mean of their rows
count() {
  import -window "$W" -depth 8 rgb:- | python3 -c '
import sys
width, want = int(sys.argv[1]), bytes.fromhex(sys.argv[2])
data = sys.stdin.buffer.read()
rows = [i // 3 // width for i in range(0, len(data) - 2, 3) if data[i:i + 3] == want]
print(len(rows), sum(rows) // max(len(rows), 1))' "$WIDTH" "$1"
}
# colour NAME COLOUR LEAST: waits until so many pixels have it
colour() {
  local i n row
  for i in $(seq 40); do
    read -r n row < <(count "$2")
    [ "$n" -ge "$3" ] && { found=$n; at=$row; return 0; }
    sleep 0.25
  done
  fail "$1: $n pixels of #$2, at least $3 expected"
}

start "$RUN_GUI_DIR/planted.safetensors"; window '^planted.safetensors$'; see label "tensors read in"
xdotool key 7
go w.weight
# a group is called "panel" by one toolkit and "grouping" by the next
see "" "Legend: zero 50.0 %; 32 rows of zeros, in blocks of 32×32"
eval "$(xdotool getwindowgeometry --shell "$W")"
colour plain $plain 4000
[ "$(count $pruned | cut -d' ' -f1)" -lt 50 ] || fail "pruned without a reference"
see label "zero rows"; see label "32 of 64: 0, 1, 2, 3, 4, 5, 6, 7, …"
say "without a reference: zeros, cause unknown"

across=1000 drop "$RUN_GUI_DIR/reference.safetensors"
see label "2 tensors aligned, 0 left over"
see button "Overlay: Error"
xdotool key 7
see button "Overlay: Zeros"
see "" "Legend: pruned 25.0 %; rounded to zero 25.0 %; revived 25.0 %"
xdotool key f; sleep 2 # the flight ends
colour pruned $pruned 2000; rows="$at" n="$found"
colour rounded $rounded 2000; rows="$rows $at" n="$n $found"
colour revived $revived 2000; rows="$rows $at" n="$n $found"
read -r a b c <<<"$rows"
[ "$a" -lt "$b" ] && [ "$b" -lt "$c" ] || fail "the bands are not in their order: $rows"
python3 -c 'import sys; n = [int(x) for x in sys.argv[1:]]; assert max(n) < 1.3 * min(n), n' $n || fail "the bands are not of one size: $n"
say "three bands of $n pixels, one below the other"
see label "25.0 % · 1"
go "w.weight[20,3]" "scalar 20, 3"
see label "rounded to zero"
say "the scalar's cause"

press button "End the comparison"
see "" "Legend: zero"
gone "" "Legend: pruned"
xdotool key 3
see button "Overlay: Value"
gone "" "zero 50.0 %"
[ "$(count $plain | cut -d' ' -f1)" -lt 50 ] || fail "the overlay's colours stay"
say "taken back"
quit

start "$SAMPLE"; window '^sample.gguf$'; see label "tensors read in"
go token_embd.weight
see button "Count zeros"
press button "Count zeros"
gone button "Count zeros"
see label "Certain about its zeros"
say "the card counts one tensor on demand"
xdotool key 8
see "" "Legend: support by ggml CUDA; native 57; as of"
see label "ggml CUDA"; see label "row look-up"; see label "native"
xdotool key ctrl+k; see "" "Command palette"; xdotool type "opencl"; sleep 0.5; xdotool key Return
see "" "Legend: support by ggml OpenCL; native 56; fallback 1"
see label "fallback"
xdotool key Home
eval "$(xdotool getwindowgeometry --shell "$W")"
colour native $native 2000; colour fallback $fallback 500
say "the embedding falls back on OpenCL"
xdotool key alt+Left # the selection goes back, the overlay stays
see button "Overlay: Backend"
xdotool key 2
gone "" "support by"
say "taken back"
quit
