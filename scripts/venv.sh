# The virtual environments of a checkout and of an installed copy; sourced by setup.sh and install.sh.
# shellcheck shell=bash

# Packages of the user are not in the environment, and commands do not search these places.
unset PYTHONPATH PIP_USER PIP_TARGET PIP_PREFIX

# FOLDER: makes the environment unless it works; an upgrade of the system may have replaced its Python.
# /usr/bin/python3, not the first one in PATH: that may be another version, or none of Debian's.
prepare_venv() {
  "$1/bin/python3" -m pip --version >/dev/null 2>&1 || /usr/bin/python3 -m venv --clear "$1"
}
