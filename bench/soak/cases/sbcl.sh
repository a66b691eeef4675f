# sbcl: compiles and runs Lisp whose foreign objects come from malloc, across collections.
# It is not recorded: every small object is drawn a pool.
source "$(dirname "$0")/case.sh"

prepare() { :; }
run() { sbcl --no-sysinit --no-userinit --script "$(dirname "$0")/sbcl/tour.lisp" 40; }

"$1"
