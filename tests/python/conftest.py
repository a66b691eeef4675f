"""Tests run alike in the foreground and in the background of a shell."""

from __future__ import annotations

import signal

import pytest

# Failed assertions of the helpers show their values, too.
pytest.register_assert_rewrite("support")

# A shell without job control starts its background jobs with SIGINT ignored, and children inherit
# that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
