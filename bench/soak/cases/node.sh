# node: one script, with worker threads.
source "$(dirname "$0")/case.sh"
script=$(dirname "$0")/node/tour.js

prepare() { :; }
train() { record node "$script" 1 >train.out; }
run() { node "$script" 8; }

"$1"
