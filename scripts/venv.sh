# The virtual environments of a checkout and of an installed copy; sourced by setup.sh and install.sh.
# shellcheck shell=bash

# Packages of the user are not in the environment, and commands do not search these places.
unset PYTHONPATH PIP_USER PIP_TARGET PIP_PREFIX

# FOLDER: makes the environment unless it works; an upgrade of the system may have replaced its Python.
# /usr/bin/python3, not the first one in PATH: that may be another version, or none of Debian's.
prepare_venv() {
  "$1/bin/python3" -m pip --version >/dev/null 2>&1 || /usr/bin/python3 -m venv --clear "$1"
}

# FOLDER: whether the environment was copied or moved there, if there is one.
# Its scripts have the path at which it was made, so that a checkout needs one of its own.
was_made_elsewhere() {
  local made_at
  made_at=$(sed -nE 's/^command = .* -m venv (--clear )?//p' "$1/pyvenv.cfg" 2>/dev/null) || return 1
  [ -n "$made_at" ] && [ "$(realpath -m -- "$made_at")" != "$(realpath "$1")" ]
}
