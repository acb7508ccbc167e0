#!/bin/bash
# What is answered without a display. Environment: PROGRAM SAMPLE.
fail() { echo "FAILED: $*" >&2; exit 1; }
unset DISPLAY WAYLAND_DISPLAY
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
"$PROGRAM" "$SAMPLE" >"$dir/out" 2>"$dir/err"; [ $? = 1 ] || fail "no display is not status 1"
grep -q 'no display' "$dir/err" && grep -q -- '--picture' "$dir/err" || fail "does not say what to do: $(cat "$dir/err")"
[ ! -s "$dir/out" ] || fail "wrote on stdout"
"$PROGRAM" --version 2>"$dir/err" | grep -Eq '^tensormorph [0-9]+\.[0-9]+\.[0-9]+$' || fail "--version"
[ ! -s "$dir/err" ] || fail "--version wrote on stderr"
"$PROGRAM" --help 2>"$dir/err" | grep -q -- --renderer || fail "--help"
"$PROGRAM" --renderer=vulkan 2>"$dir/err"; [ $? = 1 ] || fail "a wrong option is not status 1"
[ "$(wc -l <"$dir/err")" = 1 ] || fail "a wrong option is not one line"
"$PROGRAM" --picture "$dir/a.png" --size 800x600 "$SAMPLE" >"$dir/out" 2>"$dir/err" || fail "--picture: $(cat "$dir/err")"
[ ! -s "$dir/err" ] || fail "--picture wrote on stderr"
[ "$(head -c 8 "$dir/a.png" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] || fail "no PNG"
"$PROGRAM" --picture "$dir/b.png" --size 800x600 --dark --address 'blk.0.attn_v.weight[3,5]' "$SAMPLE" || fail "--picture --address"
cmp -s "$dir/a.png" "$dir/b.png" && fail "address and colours change nothing"
"$PROGRAM" --picture "$dir/c.png" --address nonsense "$SAMPLE" 2>"$dir/err"; [ $? = 1 ] || fail "a wrong address is not status 1"
grep -q nonsense "$dir/err" || fail "a wrong address is not named"
"$PROGRAM" --picture "$dir/c.png" /dev/null 2>"$dir/err"; [ $? = 1 ] || fail "no model is not status 1"
[ "$(wc -l <"$dir/err")" = 1 ] || fail "no model is not one line"
[ ! -e "$dir/c.png" ] || fail "wrote a picture of nothing"
