"""Make the pictures of the HTML report in docs/images from a real run of the quick matrix.

Run it as `python docs/screenshots.py`, or with `--from FOLDER` on the report of an earlier run. It needs the
`browser` group of pyproject.toml, and a Chromium on the PATH.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, sync_playwright

IMAGES = Path(__file__).with_name("images")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True)
class Picture:
    """One file in docs/images, and what is seen in it."""

    name: str
    scheme: Literal["light", "dark"]
    fragment: str = ""
    width: int = 1180
    height: int = 930


PICTURES = (
    Picture("report-light.png", "light"),
    Picture("report-dark.png", "dark"),
    Picture("cells-light.png", "light", "#only=breaks&writer=old&reader=new", height=780),
    Picture("cells-dark.png", "dark", "#only=breaks&writer=old&reader=new", height=780),
)


def main() -> None:
    """Make all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--from", dest="source", type=Path, help="a report folder; default: a new run's"
    )
    source = parser.parse_args().source
    with tempfile.TemporaryDirectory() as folder:
        page = (source or run(Path(folder))) / "report.html"
        take(page.resolve())


def run(folder: Path) -> Path:
    """Run the quick matrix, which finds breaks, and return the folder of its report."""
    report = folder / "report"
    command = [sys.executable, "-m", "memory_matrix", "run", "-q", "--report-dir", str(report)]
    done = subprocess.run(command, cwd=folder, check=False)
    if done.returncode != 1:
        sys.exit(f"the quick matrix ended with {done.returncode}, and not with breaks")
    return report


def take(page: Path) -> None:
    """Take all pictures of `page`."""
    IMAGES.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        path = next(filter(None, map(shutil.which, BROWSERS)), None)
        browser = playwright.chromium.launch(executable_path=path)
        for picture in PICTURES:
            _take(browser, page, picture)
        browser.close()


def _take(browser: Browser, page: Path, picture: Picture) -> None:
    tab = browser.new_page(
        viewport={"width": picture.width, "height": picture.height},
        color_scheme=picture.scheme,
        device_scale_factor=1.5,
    )
    tab.goto(f"{page.as_uri()}{picture.fragment}")
    tab.wait_for_selector("html[data-ready]", state="attached")
    tab.screenshot(path=IMAGES / picture.name)
    tab.close()


if __name__ == "__main__":
    main()
