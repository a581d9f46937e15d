"""What a script in the page says of its layout: parts that overlap, stick out of the window, or are cut."""

OVERLAPS = """() => {
  const parts = [...document.querySelectorAll(".panel:not(.tiles), .tile")];
  const boxes = parts.map((e) => e.getBoundingClientRect());
  const before = (a, b) => a.right <= b.left + 1 || a.bottom <= b.top + 1;
  const apart = (a, b) => before(a, b) || before(b, a);
  const over = boxes.some((a, i) => boxes.some((b, j) => i < j && !apart(a, b)));
  const out = document.documentElement.scrollWidth > innerWidth;
  const cut = [...document.querySelectorAll(".chart")].some((e) => e.scrollWidth > e.clientWidth + 1);
  return { over, out, cut };
}"""

# Where the content of the head's lines and the panels begin and end.
EDGES = """() => {
  const inner = (part) => {
    const { left, right } = part.getBoundingClientRect();
    const { paddingLeft, paddingRight } = getComputedStyle(part);
    return [left + parseFloat(paddingLeft), right - parseFloat(paddingRight)];
  };
  const panels = [...document.querySelectorAll(".panels")].map((part) => part.getBoundingClientRect());
  const lines = [...document.querySelectorAll("header .bar, header nav")].map(inner);
  return {
    left: [...lines.map(([left]) => left), ...panels.map((box) => box.left)],
    right: [...lines.map(([, right]) => right), ...panels.map((box) => box.right)],
    width: document.documentElement.clientWidth,
  };
}"""


CUT_TABLES = """() => [...document.querySelectorAll(".scroll")]
  .filter((part) => part.scrollWidth > part.clientWidth).map((part) => part.closest(".panel").dataset.key)"""
