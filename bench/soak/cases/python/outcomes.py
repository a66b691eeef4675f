"""Prints each test of a JUnit report of CPython's test runner, and how it ended."""

import sys
from xml.etree import ElementTree

for case in ElementTree.parse(sys.argv[1]).iter("testcase"):
    endings = [child.tag for child in case if child.tag in ("skipped", "failure", "error")]
    print(case.get("name"), *(endings or ["passed"]))
