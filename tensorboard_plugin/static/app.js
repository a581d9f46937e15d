// The tab: which session, which view, which part of it. All of that is in the address, so that links work.
import { drawPanels, element, replaceTable, restyle } from "./panels.js";
import { buildPicker } from "./picker.js";
import { loadPlotly } from "./plotly_loader.js";

const KEYS = ["session", "view", "process", "by", "measure", "start", "end", "search", "sort", "order", "offset",
  "path", "other", "tier", "capacity", "step_sort", "step_order", "step_offset"];
// Tables that come a page at a time: the route that gives one, and what the address calls its order and place.
const PAGED = {
  files: { route: "files", sort: "sort", order: "order", offset: "offset" },
  "step-table": { route: "steps", sort: "step_sort", order: "step_order", offset: "step_offset" },
};
// Of these a change can be undone by going back.
const PLACES = ["session", "view", "process", "start", "end", "path", "other"];
const REFRESH_MS = 3000, TYPING_MS = 250;

let root, page, sessions = [], refused = [], howTo = "", state = {}, theme, asked = 0, turned = 0, timer = 0, processes = [], groupings = [];
const parts = { matching: 0 };
let found = { key: "", panels: null }, beginning = null, compared = {}, empties = {};

// `given` has the first answers, which were asked for before this file was there.
export async function start(url, given) {
  root = url;
  beginning = given.beginning;
  buildFrame();
  [page, { sessions, refused, how_to: howTo }] = await Promise.all([answerOf(given.page), answerOf(given.sessions)]);
  theme = { mode: "light", templates: page.templates, config: page.config, loadPlotly: () => loadPlotly(root) };
  watchDarkMode();
  state = readState();
  parent.window.addEventListener("hashchange", () => { state = readState(); show(); });
  listenToReload();
  await show();
}

// TensorBoard tells plugins over a message port that its reload button was pressed.
function listenToReload() {
  const channel = new MessageChannel();
  channel.port1.onmessage = async (event) => {
    const message = JSON.parse(event.data);
    if (message.isReply) return;
    if (message.type === "experimental.DataReloaded") await refresh();
    channel.port1.postMessage(JSON.stringify({ type: message.type, id: message.id, payload: null, error: null,
      isReply: true }));
  };
  parent.postMessage("experimental.bootstrap", "*", [channel.port2]);
}

async function ask(route, query = {}) {
  const url = new URL(route, root);
  for (const [name, value] of Object.entries(query)) {
    if (value !== "" && value !== undefined && value !== null) url.searchParams.set(name, value);
  }
  return answerOf(fetch(url));
}

async function answerOf(response) {
  const answer = await (await response).json();
  if (answer.error) throw Object.assign(new Error(answer.error.message), { hint: answer.error.hint });
  return answer;
}

// ---- the address: #tfdarshan&p.tfdarshan.view=files&... ----

function readState() {
  const found = {};
  for (const pair of parent.window.location.hash.slice(1).split("&")) {
    const [name, value] = pair.split("=");
    const key = name.startsWith("p.tfdarshan.") ? name.slice("p.tfdarshan.".length) : "";
    if (KEYS.includes(key) && value) found[key] = decoded(value);
  }
  return found;
}

// A link that was cut short may end within a character.
function decoded(value) {
  try {
    return decodeURIComponent(value);
  } catch {
    return "";
  }
}

// What leads somewhere else is a place to come back to; a sort, or a letter of a search, is none.
function writeState(change) {
  writeAddress(change);
  return show();
}

function writeAddress(change) {
  const leads = Object.keys(change).some((key) => PLACES.includes(key) && (change[key] || "") !== (state[key] || ""));
  state = { ...state, ...change };
  for (const key of KEYS) if (state[key] === undefined || state[key] === "") delete state[key];
  const pairs = KEYS.filter((key) => key in state)
    .map((key) => `p.tfdarshan.${key}=${encodeURIComponent(state[key])}`);
  const write = leads ? "pushState" : "replaceState";
  parent.history[write](parent.history.state, "", `#${["tfdarshan", ...pairs].join("&")}`);
}

function watchDarkMode() {
  const body = parent.document.body;
  const apply = () => {
    theme.mode = body.classList.contains("dark-mode") ? "dark" : "light";
    document.documentElement.classList.toggle("dark", theme.mode === "dark");
    restyle(parts.view, theme);
  };
  new MutationObserver(apply).observe(body, { attributes: true, attributeFilter: ["class"] });
  apply();
}

// ---- the frame around the views ----

function buildFrame() {
  document.documentElement.lang = "en";
  document.title = pageTitle(null);
  parts.session = buildPicker({ ask, label: sessionLabel, name: sessionName, choose: (id) => writeState({ session: id, process: "",
    start: "", end: "", path: "", offset: "", step_offset: "", capacity: "" }) });
  parts.other = buildPicker({ ask, label: sessionLabel, name: sessionName, title: "Compare with", newest: true,
    choose: (id) => writeState({ other: id }) });
  parts.process = select("Process", (value) => writeState({ process: value, offset: "" }));
  parts.nav = element("nav", { role: "tablist" });
  parts.controls = element("div", { class: "controls" });
  parts.banner = element("div", { id: "banner" });
  parts.findings = element("div", { id: "findings", "aria-live": "polite" });
  parts.view = element("div", { id: "view", "aria-live": "polite" });
  const reload = element("button", { class: "plain", type: "button", onclick: refresh }, "Reload");
  document.body.replaceChildren(
    element("header", {}, element("div", { class: "bar" }, element("h1", {}, "I/O"), parts.session.whole, parts.process.label, reload),
      parts.nav),
    element("main", {}, parts.controls, parts.banner, parts.findings, parts.view));
}

function select(name, chosen) {
  const made = element("select", { "aria-label": name, onchange: () => chosen(made.value) });
  return { box: made, label: element("label", {}, `${name} `, made) };
}

function fill(box, entries, value) {
  box.replaceChildren(...entries.map(([key, text]) => element("option", { value: key }, text)));
  box.value = value;
}

async function listSessions() {
  ({ sessions, refused, how_to: howTo } = await ask("sessions"));
}

async function refresh() {
  found = { key: "", panels: null };
  parts.session.forget();
  parts.other.forget();
  await listSessions();
  return show();
}

function current() {
  return sessions.find((session) => session.id === state.session) || (state.session ? null : sessions[0]);
}

function pageTitle(session) {
  const about = "file I/O, by tfdarshan";
  if (!session) return about;
  const view = page.views.find(({ name }) => name === viewName());
  return `${view ? view.title : "I/O"} - ${sessionName(session)} - ${about}`;
}

function fillFrame(session) {
  document.title = pageTitle(session);
  parts.session.show(sessions, session);
  fill(parts.process.box, [["", "all processes"], ...processes.map(({ id, label }) => [id, label])], state.process || "");
  parts.process.label.hidden = processes.length < 2;
  // A view that is known to be empty has a tab only as long as somebody is there.
  const empty = session && empties.id === session.id ? empties.names : [];
  const views = page.views.filter(({ name }) => name === viewName() || !empty.includes(name));
  parts.nav.replaceChildren(...views.map((view) => element("button", {
    role: "tab", "data-view": view.name, "aria-selected": String(view.name === viewName()),
    onclick: () => writeState({ view: view.name, path: "" }),
  }, view.title)));
}

function sessionName(found) {
  return `${found.run === "." ? "" : `${found.run}: `}${found.name}`;
}

function sessionLabel(found) {
  return `${sessionName(found)}${found.state === "complete" ? "" : ` (${found.state})`}`;
}

function viewName() {
  return page.views.some((view) => view.name === state.view) ? state.view : "overview";
}

// ---- views ----

async function show() {
  const mine = ++asked;
  clearTimeout(timer);
  delete parts.view.dataset.drawn;
  const session = current();
  fillFrame(session);
  try {
    if (!session) hideFindings();
    if (!session) return await draw(mine, { panels: [state.session ? missing() : empty()] });
    let shown = await answerFor(session, "beginning");
    if (mine !== asked) return undefined;
    fillFrame(session);
    buildControls(session);
    showFindings(session, shown.verdict);
    while (shown.more) {
      const rest = answerFor(session, shown.more);
      drawPart(shown);
      shown = await rest;
      if (mine !== asked) return undefined;
    }
    fillFrame(session);
    await draw(mine, shown);
    if (session.state === "recording") timer = setTimeout(refresh, REFRESH_MS);
  } catch (error) {
    // Another choice may be one that can be shown.
    if (session && mine === asked) buildControls(session);
    if (mine === asked) hideFindings();
    await draw(mine, { panels: [{ kind: "text", title: "This cannot be shown",
      lines: [error.message, error.hint || ""], tone: "warning" }] });
  }
  return undefined;
}

// The verdict stands above the Overview. It is worked out once, which for a long session takes a while; one that
// was worked out before is shown until then. It waits for nothing of the view.
function showFindings(session, kept = []) {
  const key = `${session.id} ${session.state}`;
  if (viewName() !== "overview" || session.state !== "complete") return hideFindings();
  parts.findings.hidden = false;
  if (found.key !== key) {
    found = { key, panels: null };
    askFindings(session, found);
  }
  if (found.panels) return drawFound();
  delete parts.findings.dataset.drawn;
  return drawFindings(kept.length ? kept
    : [{ kind: "verdict", state: "pending", sentence: "Working out what costs time ..." }]);
}

async function askFindings(session, mine) {
  try {
    mine.panels = (await ask("findings", { session: session.id })).panels;
  } catch (error) {
    mine.panels = [{ kind: "text", title: "No findings", lines: [error.message, error.hint || ""], tone: "warning" }];
  }
  if (mine === found && !parts.findings.hidden) drawFound();
}

function drawFound() {
  drawFindings(found.panels);
  parts.findings.dataset.drawn = "findings";
}

function drawFindings(panels) {
  return drawPanels(parts.findings, panels, theme, { link: follow });
}

function hideFindings() {
  parts.findings.hidden = true;
  parts.findings.replaceChildren();
  delete parts.findings.dataset.drawn;
}

// What is known of a long session so far. Its charts are drawn unless the rest is there sooner.
function drawPart({ banner, panels }) {
  drawPanels(parts.banner, banner, theme);
  drawPanels(parts.view, panels, theme, ACTIONS).catch(() => undefined);
  markPainted();
}

// For whoever measures: when the first words of a view were on the screen.
function markPainted() {
  requestAnimationFrame(() => setTimeout(() => performance.mark("tfdarshan:painted"), 0));
}

// Gives the view's answer; of the overview of a long session a part, with the next one's name as `more`.
async function answerFor(session, part) {
  const name = viewName(), common = { session: session.id, process: state.process };
  if (name === "compare") {
    const answer = await ask("compare", { session: state.other, other: session.id });
    compared = { id: session.id, other: answer.session };
    return answer;
  }
  if (name === "files" && state.path) return ask("file", { ...common, path: state.path });
  const window_ = name === "timeline" && state.end ? {
    start_ns: Math.round(Number(state.start || 0) * 1e9), end_ns: Math.round(Number(state.end) * 1e9),
  } : {};
  const answer = await begun(name, session) || await ask("view", { ...common, view: name, by: state.by, measure: state.measure, ...window_,
    ...(name === "overview" ? { part } : {}),
    ...(name === "staging" ? { tier: state.tier, capacity: state.capacity } : {}),
    ...(name === "files" ? { search: state.search, ...pageOf("files") } : {}),
    ...(name === "steps" ? pageOf("step-table") : {}) });
  ({ processes, groupings = [] } = answer);
  if (answer.empty) empties = { id: session.id, names: answer.empty };
  if (name !== "files" || answer.state !== "complete") return answer;
  const table = answer.panels.find((panel) => panel.key === "files");
  parts.matching = table.paging.matching;
  if (!state.search) return answer;
  // Whoever searches looks for what was found.
  return { ...answer, panels: [table, ...answer.panels.filter((panel) => panel !== table)] };
}

// The beginning that was asked for before this file was there, once; nothing if it is of something else.
async function begun(name, session) {
  const given = beginning;
  beginning = null;
  if (!given || name !== "overview" || given.process !== (state.process || "")) return null;
  const answer = await answerOf(given.answer).catch(() => null);
  return answer && answer.session === session.id ? answer.view : null;
}

function pageOf(key) {
  const { sort, order, offset } = PAGED[key];
  return { sort: state[sort], order: state[order], offset: state[offset] };
}

// Another page of a table: the rest of the view stays as it is.
async function turn(key, { sort, descending, offset }) {
  const names = PAGED[key], change = { [names.offset]: offset ? String(offset) : "" };
  if (sort) Object.assign(change, { [names.sort]: sort, [names.order]: descending ? "" : "ascending" });
  writeAddress(change);
  const mine = ++turned, view = asked;
  const answer = await ask(names.route, { session: current().id, process: state.process, ...pageOf(key),
    ...(key === "files" ? { search: state.search } : {}) }).catch(() => null);
  if (mine !== turned || view !== asked) return undefined;
  return answer ? replaceTable(parts.view, answer.panels[0], ACTIONS) : show();
}

// What a session is compared with: what was chosen, else what it was compared with last.
function otherOf(session) {
  return state.other || (compared.id === session.id ? compared.other : session.id);
}

const ACTIONS = { link: follow, zoom, turn,
  choose: (argument, value) => writeState({ [argument]: String(value) }) };

async function draw(mine, { banner = [], panels }) {
  if (mine !== asked) return;
  drawPanels(parts.banner, banner, theme);
  const charts = drawPanels(parts.view, panels, theme, ACTIONS);
  markPainted();
  await charts;
  if (mine !== asked) return;
  performance.mark("tfdarshan:drawn");
  parts.view.dataset.drawn = viewName();
}

function follow(kind, value) {
  return kind === "file" ? writeState({ view: "files", path: value })
    : writeState({ view: "files", search: value, offset: "", path: "" });
}

function zoom(start, end) {
  if (start === null) return writeState({ start: "", end: "" });
  return writeState({ view: "timeline", start: Math.max(0, start).toFixed(9), end: Math.max(0, end).toFixed(9) });
}

function empty() {
  return { kind: "text", title: "No I/O was recorded in this logdir yet",
    lines: [...refused, "Record the file I/O of a job with one line, then reload:"], code: howTo };
}

function missing() {
  return { kind: "text", title: "There is no such session",
    lines: ["The link names a session that is not in this logdir. Choose another one above."] };
}

// ---- controls of single views ----

function buildControls(session) {
  const name = viewName();
  const makers = { timeline: timelineControls, files: filesControls, compare: compareControls,
    staging: stagingControls };
  const made = session.state === "complete" && makers[name] ? makers[name](session) : [];
  if (!made.length || made[0] !== parts.controls.firstChild) {
    parts.controls.replaceChildren(...made);
    return;
  }
  // Whoever types into the first of them goes on typing.
  while (parts.controls.lastChild !== made[0]) parts.controls.lastChild.remove();
  parts.controls.append(...made.slice(1));
}

function timelineControls() {
  const by = select("Rows", (value) => writeState({ by: value }));
  fill(by.box, groupings.map((key) => [key, key]), groupings.includes(state.by) ? state.by : groupings[0]);
  const measure = select("Colour", (value) => writeState({ measure: value }));
  fill(measure.box, Object.entries(page.measures), state.measure || "bandwidth");
  const whole = element("button", { class: "plain", type: "button", disabled: state.end ? null : "",
    onclick: () => writeState({ start: "", end: "" }) }, "Whole session");
  const shown = state.end ? `${Number(state.start || 0).toFixed(6)} s to ${Number(state.end).toFixed(6)} s`
    : "Drag over a chart to zoom in, down to single calls.";
  return [by.label, measure.label, whole, element("span", { class: "note" }, shown)];
}

function filesControls() {
  if (state.path) {
    return [element("button", { class: "plain", type: "button", onclick: () => writeState({ path: "" }) },
      "All files")];
  }
  return [searchField(), element("span", { class: "note" }, `${parts.matching.toLocaleString("en")} files match`)];
}

// One field for as long as the page lives: what is typed is searched for after a moment.
function searchField() {
  if (!parts.search) {
    const ask = () => {
      clearTimeout(parts.typing);
      if (parts.search.value !== (state.search || "")) writeState({ search: parts.search.value, offset: "" });
    };
    const wait = () => { clearTimeout(parts.typing); parts.typing = setTimeout(ask, TYPING_MS); };
    parts.search = element("input", { type: "search", "aria-label": "Search files",
      placeholder: "part of a path, or *.jpg", oninput: wait, onchange: ask });
  }
  if (document.activeElement !== parts.search) parts.search.value = state.search || "";
  return parts.search;
}

function stagingControls() {
  const tier = select("Fast tier, assumed", (value) => writeState({ tier: value, capacity: "" }));
  fill(tier.box, Object.entries(page.tiers), state.tier || Object.keys(page.tiers)[0]);
  const all = element("button", { class: "plain", type: "button", disabled: state.capacity ? null : "",
    onclick: () => writeState({ capacity: "" }) }, "All files");
  return [tier.label, all];
}

function compareControls(session) {
  const known = sessions.filter((found) => found.state === "complete");
  parts.other.show(known, known.find((found) => found.id === otherOf(session)));
  const swap = element("button", { class: "plain", type: "button",
    onclick: () => writeState({ session: otherOf(session), other: session.id }) }, "Swap");
  return [parts.other.whole, swap];
}
