# xalan: the catalogue and the stylesheet that xsltproc is measured with.
source "$(dirname "$0")/case.sh"

prepare() {
  "$SOAK_PYTHON" "$SOAK_REPOSITORY/bench/programs/inputs/xsltproc.py" "$SOAK_INPUTS"
  cd "$SOAK_INPUTS"
  {
    head -n 2 train.xml
    grep '^<person' train.xml
    grep '^<book' train.xml | sed -n 1,700p
    echo '</library>'
  } >small.xml
}

# INPUT COMMAND ...
transform() {
  local input=$1
  shift
  "$@" -in "$SOAK_INPUTS/$input.xml" -xsl "$SOAK_INPUTS/report.xsl" -out report.html
}

train() { transform small record xalan; }
run() { transform ref xalan; }

"$1"
