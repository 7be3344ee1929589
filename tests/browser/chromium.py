"""Chromium without a window, driven by selenium: a fresh profile, no network of its own, nothing downloaded.

Whoever imports this is skipped where a part of it is missing.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("selenium", reason="the browser tests need selenium: pip install selenium")

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

FLAGS = """
    --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --no-default-browser-check
    --disable-background-networking --disable-component-update --disable-sync --disable-extensions --no-proxy-server
    --disable-back-forward-cache --force-device-scale-factor=1 --force-prefers-reduced-motion --window-size=1280,900
""".split()
LOGS = {"browser": "ALL", "performance": "ALL"}  # the console, and every request


def found(*names: str) -> str:
    """The first of some programs that is installed."""
    for name in names:
        if path := shutil.which(name):
            return path
    return pytest.skip(f"the browser tests need {names[0]}, which is not installed", allow_module_level=True)


BROWSER = found("chromium", "chromium-browser", "google-chrome")
DRIVER = found("chromedriver")


def open_chromium(profile: Path) -> Chrome:
    options = ChromeOptions()
    options.binary_location = BROWSER
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", LOGS)
    return Chrome(options, Service(DRIVER))
