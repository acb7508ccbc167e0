#!/bin/bash
# A sharded folder of a quantized model is dropped on the window: one weight out of several tensors of several files. A real
# click on a scalar; raw, zero point and value are those of the command line. A reading is switched and taken back.
. "$(dirname "$0")"/window.sh
folder=$RUN_GUI_DIR/sharded-model; cp -r "$GOLDEN/sharded-mixed" "$folder"; rm -f "$folder"/expected.*
weight=model.layers.1.mlp.up_proj.weight
go() { xdotool key ctrl+l; see text Address; sleep 0.2; xdotool type --delay 20 "$1"; xdotool key Return; }
record() { "$CLI" scalar --json "$@" "$folder" "$weight" "$row,$column"; }
field() { grep -o "\"$1\":[^,}]*" | head -1 | cut -d: -f2; }
# what stands beside a key in the inspector
value_of() { dump | grep -m1 -A1 "label \"$1\"" | tail -1 | sed 's/.*label "\([^"]*\)".*/\1/'; }

"$CLI" tensors --json "$folder" | grep -q "\"name\":\"$weight\",\"dtype\":\"[^\"]*\",\"quantized\":true" || fail "$weight is not folded"
start; window '^Tensormorph$'; see label "Drop a model here"
drop "$folder"
see frame sharded-model; see label "Quantization"; see label "gptq"
say "a dropped folder is one model, its page names the schemes"

window '^sharded-model$'; xdotool windowactivate --sync "$W"
row=3 column=20
go "$weight[$row,$column]"
see image "scalar $row, $column: raw $(record | field raw), dequantized $(record | field value)"
sleep 1.2 # the flight
set -- $("$here"/atspi-dump.py tensormorph --where image "$weight")
xdotool mousemove --window "$W" $(($1 + 70)) "$2" click 1
column=21
see image "scalar $row, $column: raw $(record | field raw), dequantized $(record | field value)"
see label "Scalar [$row, $column]"; see label "How is this packed"; see label "Bits of this value"
[ "$(value_of 'zero point')" = "$(record | field zero_point)" ] || fail "zero point: $(value_of 'zero point'), $(record | field zero_point)"
[ "$(value_of 'raw (stored)')" != "" ] || fail "no raw card"
[ "$(value_of scale)" = "$(record | field scale)" ] || fail "scale: $(value_of scale), $(record | field scale)"
see label "Stored as"; dump | grep -q "^qzeros\|\"qzeros" || fail "its pieces are not listed"
say "a click: raw, zero point and value are the record's"

see "combo box" "gptq-zeros" 5
other=$(record --assume gptq-zeros=v2 | field zero_point)
[ "$other" != "$(record | field zero_point)" ] || fail "the reading changes nothing"
press "button" "gptq-zeros"; sleep 0.5; xdotool key Down Return
see image "scalar $row, $column: raw $(record | field raw), dequantized $(record --assume gptq-zeros=v2 | field value)"
for i in $(seq 50); do [ "$(value_of 'zero point')" = "$other" ] && break; sleep 0.2; done
[ "$(value_of 'zero point')" = "$other" ] || fail "zero point after the switch: $(value_of 'zero point'), $other"
see "button" "[$row, $column]"; see label "Scalar [$row, $column]"
say "another reading: same place, other numbers"

piece=${weight%.weight}.qweight
go "stored:$piece"
first=$("$CLI" scalar --json --stored "$folder" "$piece" 0,1)
see label "[0, 1]  $(echo "$first" | field value)  $(echo "$first" | field raw_hex | tr -d '"')" 20
say "a piece shows the words that are stored"
quit
say "ends quietly"

# one cause at hundreds of tensors
python3 - "$folder/model.safetensors.index.json" <<'P'
import json, sys
index = json.load(open(sys.argv[1]))
shard = sorted(set(index["weight_map"].values()))[0]
index["weight_map"].update({"ghost.%d.weight" % i: shard for i in range(400)})
json.dump(index, open(sys.argv[1], "w"))
P
problems=$("$CLI" info --json "$folder" | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["problems"]))')
start "$folder"; window '^sharded-model$'; see label "$problems problems"; xdotool windowactivate --sync "$W"
set -- $("$here"/atspi-dump.py tensormorph --where "button" "$problems problems")
xdotool mousemove --window "$W" "$1" "$2" sleep 0.3 click 1
see label "ghost.0.weight" 15; see label "$((problems - 20)) more of the same kinds" 15
say "hundreds of problems: some of each kind, and how many more"
xdotool key Escape; sleep 0.5
quit
