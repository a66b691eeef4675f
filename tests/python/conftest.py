"""Tests run alike in the foreground and in the background of a shell."""

from __future__ import annotations

import os
import signal

import pytest

# Failed assertions of the helpers show their values, too.
pytest.register_assert_rewrite("support")

from support.command import BUILD  # noqa: E402

# Surveys of libraries are shared by the tests, and leave the user's own ones alone.
os.environ["XDG_CACHE_HOME"] = str(BUILD / "cache")

# A shell without job control starts its background jobs with SIGINT ignored, and children inherit
# that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
