// Draws panels, the parts that views are made of. The report and the TensorBoard tab share this module.
// Every text from a session goes through textContent: file names may hold anything.

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

// `theme` is {mode, templates, config}, and loadPlotly() where that is not there yet. `actions` may have
// link(kind, value), zoom(startS, endS), turn(key, {sort, descending, offset}) for another page of a table,
// choose(argument, value). What is given comes when all charts are drawn; all else is there at once.
export function drawPanels(container, panels, theme, actions = {}) {
  const focused = container.contains(document.activeElement) && document.activeElement.matches("input[type=range]")
    ? document.activeElement.getAttribute("aria-label") : null;
  for (const chart of container.querySelectorAll(".chart")) if (chart.panelData) Plotly.purge(chart);
  container.replaceChildren();
  container.classList.add("panels");
  const drawn = [];
  for (const panel of panels) {
    const made = BUILDERS[panel.kind](panel, actions);
    container.append(made);
    if (panel.kind === "table") keepFitting(made.querySelector(".scroll"));
    if (panel.kind === "chart") drawn.push(drawChart(made.querySelector(".chart"), panel, theme, actions));
  }
  // A slider that asked for these panels goes on answering to keys.
  if (focused) container.querySelector(`input[type=range][aria-label="${CSS.escape(focused)}"]`)?.focus();
  return Promise.all(drawn);
}

export function restyle(container, theme) {
  const charts = [...container.querySelectorAll(".chart")].filter((chart) => chart.panelData);
  return Promise.all(charts.map((chart) => {
    const layout = { ...chart.layout, template: theme.templates[theme.mode] };
    return Plotly.react(chart, chart.panelData, layout, theme.config);
  }));
}

const BUILDERS = { tiles: buildTiles, chart: buildChart, table: buildTable, text: buildText, verdict: buildVerdict,
  parts: buildParts, cards: buildCards };

function frame(panel, ...children) {
  const shape = `panel ${panel.kind}-panel ${panel.half ? "half" : ""}`;
  const made = element("section", { class: shape, "data-key": panel.key });
  if (panel.title) made.append(element("h2", {}, panel.title));
  made.append(...children);
  if (panel.note) made.append(element("p", { class: "note" }, panel.note));
  return made;
}

function buildTiles(panel) {
  const tiles = panel.items.map((tile) => element("div", { class: "tile", "data-label": tile.label },
    element("div", { class: "label" }, tile.label),
    element("div", { class: "value", title: tile.value.exact || null }, tile.value.text),
    tile.note ? element("p", { class: "note" }, tile.note) : null));
  const made = element("section", { class: "panel tiles" }, ...tiles);
  rows.observe(made);
  return made;
}

// No row of tiles holds one alone beside a full one: the rows that they need share them evenly.
const LEAST_TILE_PX = 140, TILE_GAP_PX = 12;
const rows = new ResizeObserver((changes) => requestAnimationFrame(() => {
  for (const { target, contentRect } of changes) {
    const count = target.children.length, room = contentRect.width + TILE_GAP_PX;
    const most = Math.max(1, Math.floor(room / (LEAST_TILE_PX + TILE_GAP_PX)));
    target.style.setProperty("--in-a-row", Math.ceil(count / Math.ceil(count / most)));
  }
}));

function buildChart(panel, actions) {
  const chart = element("div", { class: "chart", role: "group", "aria-label": panel.title });
  chart.style.minHeight = `${panel.figure.layout.height}px`;
  return frame(panel, chart, ...(panel.slider ? [buildSlider(panel.slider, chart, actions)] : []));
}

// Moving it moves the chart's marker and says what is there; letting go of it asks for the view with that value.
function buildSlider(slider, chart, actions) {
  const said = element("output", { class: "said" });
  const range = element("input", { type: "range", min: 0, max: slider.points.length - 1, step: 1,
    value: slider.start, "aria-label": slider.label });
  const point = () => slider.points[Number(range.value)];
  const say = () => { said.textContent = point().text; range.setAttribute("aria-valuetext", point().text); };
  range.addEventListener("input", () => {
    say();
    if (chart.panelData) Plotly.restyle(chart, { x: [[point().x]], y: [[point().y]] }, [slider.marker]);
  });
  range.addEventListener("change", () => actions.choose?.(slider.argument, point().value));
  say();
  return element("div", { class: "slider" }, element("label", {}, `${slider.label} `, range), said);
}

function buildTable(panel, actions) {
  const heads = panel.columns.map((column, place) => buildHead(panel, column, place, actions));
  const rows = panel.rows.map((cells) => element("tr", {}, ...cells.map((cell, place) =>
    buildCell(cell, panel.columns[place], actions))));
  const made = frame(panel, element("div", { class: "scroll" }, element("table", { "aria-label": panel.title },
    element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows))));
  if (panel.paging && actions.turn) made.append(buildTurns(panel, actions));
  return made;
}

// A click on a column's head sorts by it, the largest first; another one turns the order round.
function buildHead(panel, [name, kind], place, actions) {
  const { sorts = [], sort, descending } = panel.paging || {};
  const mine = sorts[place] && sorts[place] === sort;
  const order = mine && actions.turn ? (descending ? "descending" : "ascending") : null;
  // Each click turns the order, also before the answer to the one before it is there.
  let next = !(mine && descending);
  const turn = () => {
    actions.turn(panel.key, { sort: sorts[place], descending: next, offset: 0 });
    next = !next;
  };
  return element("th", { class: kind, scope: "col", "aria-sort": order },
    sorts[place] && actions.turn ? element("button", { type: "button", onclick: turn }, name) : name);
}

function buildTurns(panel, actions) {
  const { offset, limit, matching } = panel.paging;
  const turn = (label, to, possible) => element("button", { class: "plain", type: "button",
    disabled: possible ? null : "", onclick: () => actions.turn(panel.key, { offset: to }) }, label);
  return element("div", { class: "turns" }, turn("Previous", Math.max(0, offset - limit), offset > 0),
    turn("Next", offset + limit, offset + limit < matching));
}

// Draws another page of a table in its place; whoever pressed a button of it goes on pressing.
export function replaceTable(container, panel, actions) {
  const old = container.querySelector(`.panel[data-key="${CSS.escape(panel.key)}"]`);
  if (!old) return;
  const buttons = (part) => [...part.querySelectorAll("th button, .turns button")];
  const place = buttons(old).indexOf(document.activeElement);
  const made = buildTable(panel, actions);
  old.replaceWith(made);
  keepFitting(made.querySelector(".scroll"));
  if (place < 0) return;
  const again = buttons(made)[place];
  (again.disabled ? buttons(made).find((button) => button.closest(".turns") && !button.disabled) : again)?.focus();
}

function buildCell(cell, [name, kind], actions) {
  const attributes = { class: cell.link ? `${kind} path` : kind, title: cell.exact || null, "data-label": name };
  const shown = content(cell, actions);
  return element("td", attributes, cell.link ? element("div", {}, shown) : shown);
}

// How wide a table is only its font says: it is measured, and again when the window or the font changes.
const FITS = ["whole", "tight", "broken", "stacked"];
const sizes = new ResizeObserver((changes) => requestAnimationFrame(() => {
  for (const part of new Set(changes.map((change) => change.target.closest(".scroll")))) fit(part);
}));

function keepFitting(part) {
  fit(part);
  sizes.observe(part);
  sizes.observe(part.firstChild);
}

// The first shape in which all of the table can be seen, or the narrowest.
function fit(part) {
  for (const shape of FITS) {
    part.dataset.fit = shape;
    if (part.scrollWidth <= part.clientWidth) return;
  }
}

function content(cell, actions) {
  if (cell.link && actions.link) {
    const go = (event) => { event.preventDefault(); actions.link(...cell.link); };
    return element("a", { href: "#", onclick: go }, cell.text);
  }
  if (!cell.outcome) return element("span", {}, cell.text);
  return element("span", { class: "change", "data-outcome": cell.outcome }, cell.text);
}

function buildText(panel) {
  if (panel.folded) {
    return element("details", { class: "panel text-panel folded" }, element("summary", {}, panel.title),
      ...panel.lines.map((line) => element("p", {}, line)));
  }
  const made = frame(panel, ...panel.lines.map((line) => element("p", {}, line)));
  if (panel.code) made.append(element("pre", { tabindex: 0 }, panel.code));
  if (panel.tone === "warning") made.classList.add("warning");
  if (panel.inline) made.classList.add("inline");
  return made;
}

// The answer to "why is it slow, and what do I do": the sentence, the gain as a number, the lines to change.
function buildVerdict(panel, actions) {
  const { card } = panel;
  const gain = panel.speedup ? element("p", { class: "gain-number" }, element("strong", {}, panel.speedup),
    element("span", { class: "note" }, panel.promise)) : null;
  const fix = card ? element("div", { class: "answer" }, gain,
    element("div", { class: "fix" }, card.fix ? element("p", {}, card.fix) : null, buildChange(card))) : null;
  const more = card ? element("details", { class: "more" }, element("summary", {}, "Numbers, files, what this assumes"),
    ...buildNumbers(card, actions)) : null;
  return element("section", { class: `panel verdict ${panel.state}`, "data-key": "verdict",
    "data-name": card ? card.name : null },
  element("p", { class: "why" }, panel.sentence), fix,
  panel.note ? element("p", { class: "note" }, panel.note) : null, more);
}

// The lines to change, and a button that copies the new ones.
function buildChange(card) {
  if (!card.line) return null;
  const button = element("button", { class: "plain copy", type: "button", onclick: () => copy(card.line, button) },
    "Copy");
  return element("div", { class: "change-lines" }, element("pre", { tabindex: 0 },
    card.instead_of ? element("span", { class: "before" }, `${card.instead_of.replace(/^/gm, "- ")}\n`) : null,
    element("span", { class: "after" }, card.instead_of ? card.line.replace(/^/gm, "+ ") : card.line)), button);
}

// A page that is not on https or localhost has no clipboard of its own.
async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = element("textarea", { readonly: true });
    area.value = text;
    document.body.append(area);
    area.focus();
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
}

function buildParts(panel) {
  const said = panel.items.map((part) => `${part.label} ${part.share_text}`).join(", ");
  const bar = element("div", { class: "parts-bar", role: "img", "aria-label": `${panel.title}: ${said}` },
    ...panel.items.map((part) => {
      const made = coloured(element("div", { title: `${part.label}: ${part.value.text}` }), part);
      made.style.flexGrow = String(part.share);
      return made;
    }));
  const legend = element("ul", { class: "parts-legend" }, ...panel.items.map((part) => element("li", {},
    coloured(element("span", { class: "swatch" }), part),
    `${part.label} `, element("b", { title: part.value.exact || null }, part.share_text),
    element("span", { class: "note" }, ` ${part.value.text}`))));
  return frame(panel, bar, legend);
}

function coloured(made, part) {
  made.style.background = part.colour;
  return made;
}

function buildCards(panel, actions) {
  return element("section", { class: "panel cards", "data-key": panel.key },
    ...panel.items.map((card) => buildCard(card, actions)));
}

// What a finding says at a glance; a click shows its numbers, its files and when not to bother.
function buildCard(card, actions) {
  return element("details", { class: `card tone-${card.tone}`, "data-name": card.name },
    element("summary", {},
      element("span", { class: "label" }, card.label),
      element("span", { class: "title" }, card.title),
      card.cost.text ? element("span", { class: "cost", title: card.cost.exact }, card.cost.text) : null,
      card.speedup ? element("span", { class: "speedup", title: "what its fix gives, alone" }, card.speedup) : null),
    card.fix ? element("p", {}, element("b", {}, "Fix: "), card.fix) : null,
    buildChange(card),
    ...buildNumbers(card, actions));
}

function buildNumbers(card, actions) {
  const files = card.files.map((cell) => element("p", { class: "path", title: cell.exact }, content(cell, actions)));
  const numbers = element("dl", {}, ...card.evidence.flatMap(([label, text]) =>
    [element("dt", {}, label), element("dd", {}, text)]));
  return [element("p", {}, card.what),
    card.gain ? element("p", { class: "gain" }, element("b", {}, "Speedup: "), card.gain) : null,
    card.assumes.length ? element("div", { class: "assumes" }, element("b", {}, "This assumes"),
      element("ul", {}, ...card.assumes.map((text) => element("li", {}, text)))) : null,
    numbers, ...files, card.not_worth ? element("p", { class: "note" }, card.not_worth) : null];
}

// d3 writes SI prefixes right behind a number: "6MB/s" becomes "6 MB/s".
function spaceUnits(chart) {
  for (const tick of chart.querySelectorAll(".xtick text, .ytick text, .cbaxis text")) {
    const [, number, unit] = tick.textContent.match(/^([\u2212\d.,]+)([kMGTP]?B(?:\/s)?|[mµn]?s)\u00a0?$/) || [];
    if (unit) tick.textContent = `${number} ${unit}`;
  }
}

async function drawChart(chart, panel, theme, actions) {
  try {
    await theme.loadPlotly?.();
  } catch (error) {
    chart.replaceChildren(element("p", { class: "note" }, error.message));
    return;
  }
  // Meanwhile other panels may have taken its place.
  if (!chart.isConnected) return;
  const layout = { ...panel.figure.layout, template: theme.templates[theme.mode] };
  chart.panelData = panel.figure.data;
  await Plotly.newPlot(chart, panel.figure.data, layout, theme.config);
  spaceUnits(chart);
  chart.on("plotly_afterplot", () => spaceUnits(chart));
  if (actions.link) {
    chart.on("plotly_treemapclick", (event) => {
      const { customdata, id } = event.points[0];
      if (customdata?.[0] !== "file") return true;
      actions.link("file", id);
      return false;
    });
  }
  if (!actions.zoom || !["activity", "bandwidth", "depth", "window-bandwidth"].includes(panel.key)) return;
  chart.on("plotly_relayout", (change) => {
    const start = change["xaxis.range[0]"], end = change["xaxis.range[1]"];
    if (start !== undefined && end !== undefined) actions.zoom(Number(start), Number(end));
    else if (change["xaxis.autorange"]) actions.zoom(null, null);
  });
}
