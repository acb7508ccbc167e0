#!/bin/bash
# Starts, shows a model, quits: with OpenGL, with the CPU painter, and where there is no OpenGL at all. Silent throughout.
. "$(dirname "$0")"/window.sh

start; see frame Tensormorph; see label "Drop a model here"; see frame Tensormorph; see button "Open the sample"; quit; say "empty window"

for renderer in gl cpu; do
  start --renderer=$renderer "$SAMPLE"
  see frame sample.gguf
  see label "bits/weight"
  see label "tensors read in"
  quit; say "--renderer=$renderer"
done

no_gl; GSK_RENDERER=cairo start "$SAMPLE"
see frame sample.gguf
see label "painted by the CPU"
quit; say "no OpenGL: opened, and the status line says so"
unset GDK_DEBUG GDK_DISABLE

start
see button "Open the sample"; press button "Open the sample"; see frame sample.gguf
quit; say "the sample opens from the empty window"

# alone, with nothing of the build folder beside it
cp "$PROGRAM" "$RUN_GUI_DIR/tensormorph"; PROGRAM=$RUN_GUI_DIR/tensormorph start
see button "Open the sample"; press button "Open the sample"; see frame sample.gguf; see label "57 tensors read in"
quit; say "the sample is inside the program"
