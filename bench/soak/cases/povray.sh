# povray: the scene that it is measured with, on as many threads as there are cores.
source "$(dirname "$0")/case.sh"

prepare() { "$SOAK_PYTHON" "$SOAK_REPOSITORY/bench/programs/inputs/povray.py" "$SOAK_INPUTS"; }

render() { "$@" -GA -D +FB "+WT$(nproc)" +Oimage.bmp; }

train() { render record povray "+I$SOAK_INPUTS/train.pov" +W48 +H36; }
run() { render povray "+I$SOAK_INPUTS/ref.pov" +W640 +H480; }

"$1"
