"""Check that a built site works offline: ``python tools/site_is_whole.py build/site``.

All internal links must lead to existing files and anchors. Scripts, styles, fonts, images and
frames must not be loaded from another host.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

SOURCES = dict.fromkeys(("script", "img", "iframe", "source", "video", "audio", "embed"), "src")
LOADS = {**SOURCES, "object": "data"}
"""The attribute of each tag that a browser loads automatically."""

LOADED_LINKS = {
    "stylesheet",
    "icon",
    "shortcut icon",
    "preload",
    "modulepreload",
    "prefetch",
    "preconnect",
}
FROM_STYLES = re.compile(r"""(?:@import\s+|url\()\s*["']?((?:https?:)?//[^"')\s]+)""")


@dataclass
class Page(HTMLParser):
    """The links, loaded resources and anchors of one HTML file."""

    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the links, resources and anchors of one tag."""
        attributes = {name: value for name, value in attrs if value}
        self.anchors |= {attributes[name] for name in ("id", "name") if name in attributes}
        if tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        elif tag == "link" and attributes.get("rel") in LOADED_LINKS:
            self.loads.append(attributes.get("href", ""))
        elif tag in LOADS and LOADS[tag] in attributes:
            self.loads.append(attributes[LOADS[tag]])

    def has(self, fragment: str) -> bool:
        """Return True if the fragment is empty or an anchor of the page."""
        return not fragment or fragment in self.anchors


def read(path: Path) -> Page:
    """Parse an HTML file."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def is_external(address: str) -> bool:
    """Return True if an address is not a file of the site."""
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme not in ("", "file")


def find_broken(site: Path, pages: dict[Path, Page]) -> Iterator[str]:
    """Yield links and resources that do not exist."""
    for path, page in pages.items():
        for address in (*page.links, *page.loads):
            if is_external(address):
                continue
            parts = urlsplit(address)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            where = f"{path.relative_to(site)}: {address}"
            if not target.exists():
                yield f"{where}: no such file"
            elif target in pages and not pages[target].has(unquote(parts.fragment)):
                yield f"{where}: no such anchor"


def find_external_loads(site: Path, pages: dict[Path, Page]) -> Iterator[str]:
    """Yield resources that are loaded from another host."""
    for path, page in pages.items():
        for address in page.loads:
            if urlsplit(address).netloc:
                yield f"{path.relative_to(site)}: loads {address}"
    for path in sorted(site.rglob("*.css")):
        for address in FROM_STYLES.findall(path.read_text(encoding="utf-8", errors="replace")):
            yield f"{path.relative_to(site)}: loads {address}"


def main() -> int:
    """Print all problems and return 1 if there are any."""
    site = Path(sys.argv[1]).resolve()
    static = site / "_static"
    pages = {
        path: read(path) for path in sorted(site.rglob("*.html")) if static not in path.parents
    }
    problems = [*find_broken(site, pages), *find_external_loads(site, pages)]
    if "index.html" not in {str(path.relative_to(site)) for path in pages}:
        problems.append("index.html: no such file")
    print(*problems, sep="\n", end="\n" if problems else "")
    links = sum(len(page.links) for page in pages.values())
    print(f"{len(pages)} pages, {links} links, {len(problems)} broken or loaded from another host")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
