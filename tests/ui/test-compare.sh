#!/bin/bash
# Two models dropped: the second on Compare. The ranking and one scalar's delta are what the command line says.
. "$(dirname "$0")"/window.sh
scalar='blk.2.attn_output.weight' index=37,51 counterpart='model.layers.2.self_attn.o_proj.weight'

start; window '^Tensormorph$'; see label "Drop a model here"
drop "$SAMPLE"
see frame "sample.gguf"
say "the candidate is open"

window '^sample.gguf$'
across=1000 drop "$REFERENCE"
see label "57 tensors aligned, 0 left over"
see label "rotary permutation undone"
see label "sample.gguf (Q4_K GGUF) against sample-float.safetensors (F32 safetensors)"
"$CLI" diff --json "$SAMPLE" "$REFERENCE" >"$RUN_GUI_DIR/diff.json" || fail "the command line does not compare"
mapfile -t expected < <(python3 - "$RUN_GUI_DIR/diff.json" <<'P'
import json, sys
worst = json.load(open(sys.argv[1]))["tensors"][0]
print(worst["name"])
print("%.1f dB" % worst["sqnr_db"])
print("%.4g" % worst["max_abs"])
P
)
for text in "${expected[@]}"; do see label "$text"; done
say "the ranking has the worst tensor: ${expected[*]}"

xdotool key ctrl+l; sleep 0.3; xdotool type "$scalar[$index]"; xdotool key Return
see label "Against the reference [37, 51]"
mapfile -t expected < <(python3 - "$CLI" "$SAMPLE" "$REFERENCE" "$scalar" "$counterpart" "$index" <<'P'
import json, struct, subprocess, sys
cli, sample, reference, scalar, counterpart, index = sys.argv[1:]
def value(path, name):
    found = json.loads(subprocess.check_output([cli, "scalar", "--json", path, name, index]))
    return struct.unpack("f", struct.pack("f", float(found["value"])))[0]
y, x = value(sample, scalar), value(reference, counterpart)
print(("\u2212" if y < x else "") + "%.6g" % abs(y - x))
P
)
[ -n "${expected[0]}" ] || fail "the command line gives no scalar"
see label "${expected[0]}"
see label "baseline"; see label "candidate"; see label "in steps"
say "the scalar's delta: ${expected[0]}"

press button "End the comparison"
gone label "57 tensors aligned"
gone label "baseline"
say "ended"

xdotool key Escape
across=1000 drop "$GOLDEN/sharded-mixed"
see label "names, shapes and values say that they are different models"; see label "Compared with sharded-mixed"
across=1000 drop "$REFERENCE"
see label "57 tensors aligned"; gone label "they are different models"
xdotool windowactivate --sync "$W"
press button "End the comparison"; gone label "57 tensors aligned"
say "nothing in common is said, and no longer than that model is the reference"

xdotool key ctrl+f; xdotool type "absmax>5 dtype:Q4_K"
see label "blk.2.attn_output.weight"; gone label "output_norm.weight"
xdotool key ctrl+a; xdotool type "rows>"
see label "character"
xdotool key Escape
see label "output_norm.weight"
say "the filter computes statistics, and points at what it cannot read"
quit
