# ruby: fibers, threads, JSON, bignums, regular expressions, compacting collections and forks.
source "$(dirname "$0")/case.sh"
script=$(dirname "$0")/ruby/tour.rb

prepare() { :; }
# Without its forks, which only the run has.
train() { record ruby --disable-gems "$script" 1 >out; }
run() { ruby "$script" 40 forks; }

"$1"
