#!/bin/bash
# Files dragged from another program: opened, refused with a banner, opened beside, and not local.
. "$(dirname "$0")"/window.sh
files=$RUN_GUI_DIR/files; mkdir "$files"
cp "$SAMPLE" "$files/my modèl.gguf"
cp "$SAMPLE" "$files/second.gguf"
printf 'GGUF\3\0\0\0\377\377\377\377\377\377\377\377' >"$files/broken.gguf"
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n' >"$files/pointer.gguf"

start; window '^Tensormorph$'; see label "Drop a model here"
drop "$files/broken.gguf"
see label "broken.gguf:"
see frame Tensormorph
say "a broken file: a banner, and the window is as it was"

drop "$files/my modèl.gguf"
see frame "my modèl.gguf"
see label "tensors read in"
see label "broken.gguf:"
press button "Dismiss"; gone label "broken.gguf:"
say "a model opens, the banner goes when dismissed"

window '^my modèl.gguf$'
drop "$files/pointer.gguf"
see label "pointer.gguf:"
see frame "my modèl.gguf"
say "a Git LFS pointer: a banner, the model stays"

drop "$files/second.gguf"
see frame "second.gguf"
see frame "my modèl.gguf"
say "onto a model: a window of its own"

window '^my modèl.gguf$'; xdotool windowactivate --sync "$W"; xdotool windowraise "$W"
drop "https://example.org/model.gguf"
see label "is not a local file"
say "a remote address is named"
quit
