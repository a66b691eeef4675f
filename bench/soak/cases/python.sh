# python: the tests that python/tests.txt names, in one process that starts others where tests do.
source "$(dirname "$0")/case.sh"
here=$(dirname "$0")/python
python=/usr/bin/python3

prepare() { :; }

train() {
  record $python -m test --quiet test_class test_copy test_dict test_list test_string test_struct \
    test_textwrap >out || true
}

run() {
  local status=0
  xargs $python -m test --quiet --junit-xml "$PWD/tests.xml" <"$here/tests.txt" >log 2>&1 || status=$?
  echo "status $status"
  $python "$here/outcomes.py" tests.xml
  rm -f tests.xml log
}

"$1"
