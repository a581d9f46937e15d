// Chooses a session: the one that is shown stands on a button, which opens a list with verdicts and a search.
import { element } from "./panels.js";

// More rows than these are no list that anybody reads; a search finds the others.
const MOST_ROWS = 200;
// So many characters of a command are never left out.
const END_OF_JOB = 24;

// `ask` asks a route, `choose` is told the id of a session, `label` and `name` word one with its state and without,
// `title` says what the session is chosen for; with `newest` the newest comes first and not the one that loses most.
// Gives the element, what shows another session, and what forgets the verdicts.
export function buildPicker({ ask, choose, label, name, title = "Session", newest = false }) {
  const state = { sessions: [], groups: null, left: 0, tooLarge: 0, shown: null, round: 0 };
  const button = element("button", { class: "plain session", type: "button", "aria-haspopup": "dialog",
    "aria-expanded": "false", onclick: () => (panel.hidden ? open() : close()) });
  const search = element("input", { type: "search", "aria-label": "Search sessions",
    placeholder: "name, job or verdict", oninput: () => drawRows() });
  const body = element("tbody", {}), note = element("p", { class: "note", role: "status" });
  const heads = [["session", "text"], ["when", "text"], ["lasted", "number"], ["waits", "number"], ["gain", "number"], ["why", "text"]];
  const panel = element("div", { class: "picker", role: "dialog", "aria-label": title === "Session" ? "Sessions" : title, hidden: "" }, search,
    element("div", { class: "list" }, element("table", { "aria-label": "Sessions" }, element("thead", {},
      element("tr", {}, ...heads.map(([name, kind]) => element("th", { class: kind, scope: "col" }, name)))), body)),
    note);
  const whole = element("div", { class: "pick" }, element("span", { "aria-hidden": "true" }, title), button, panel);
  panel.addEventListener("keydown", onKey);
  document.addEventListener("pointerdown", (event) => { if (!whole.contains(event.target)) close(false); });

  function show(sessions, shown) {
    Object.assign(state, { sessions, shown });
    const text = shown ? label(shown) : "none";
    button.textContent = text;
    button.setAttribute("aria-label", `${title} ${text}`);
    whole.hidden = sessions.length === 0;
    if (!panel.hidden) drawRows();
  }

  async function open() {
    panel.hidden = false;
    button.setAttribute("aria-expanded", "true");
    search.value = "";
    drawRows();
    search.focus();
    const mine = ++state.round;
    for (let look = ""; mine === state.round; look = "1") {
      const answer = await ask("verdicts", { look }).catch(() => null);
      if (!answer || mine !== state.round) return;
      const before = state.left;
      Object.assign(state, { groups: answer.groups, left: answer.left, tooLarge: answer.too_large });
      drawRows();
      // Those that are left are too large, or another page looks at them.
      if (answer.left <= answer.too_large || (look && answer.left === before)) return;
    }
  }

  function close(refocus = true) {
    if (panel.hidden) return;
    state.round += 1;
    panel.hidden = true;
    button.setAttribute("aria-expanded", "false");
    if (refocus) button.focus();
  }

  function onKey(event) {
    if (event.key === "Escape") return close();
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return undefined;
    event.preventDefault();
    const places = [search, ...body.querySelectorAll("button")];
    const at = places.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
    return places[Math.max(0, Math.min(at, places.length - 1))].focus();
  }

  // Until verdicts are there, the sessions stand as the page knows them.
  function groups() {
    if (state.groups && newest) {
      const place = new Map(state.sessions.map((found, at) => [found.id, at]));
      return state.groups.flat().sort((one, other) => place.get(one.id) - place.get(other.id)).map((row) => [row]);
    }
    if (state.groups) return state.groups;
    return state.sessions.map((found) => [{ ...found, when: "", lasted: "", waits: "", gain: "", job: "",
      why: found.state === "complete" ? "" : found.state }]);
  }

  function drawRows() {
    const known = new Map(state.sessions.map((found) => [found.id, name(found)]));
    const wanted = search.value.toLowerCase();
    const fits = (row) => `${known.get(row.id)} ${row.command || ""} ${row.why}`.toLowerCase().includes(wanted);
    const focused = body.contains(document.activeElement) ? document.activeElement.dataset.id : null;
    const rows = [];
    let matching = 0, drawn = 0;
    for (const group of groups()) {
      const found = group.filter((row) => known.has(row.id) && fits(row));
      matching += found.length;
      if (!found.length || drawn >= MOST_ROWS) continue;
      if (group.length > 1) rows.push(buildHead(group.length));
      rows.push(...found.slice(0, MOST_ROWS - drawn).map((row) => buildRow(row, known.get(row.id), group.length > 1)));
      drawn += Math.min(found.length, MOST_ROWS - drawn);
    }
    body.replaceChildren(...rows);
    note.textContent = sayRest(matching, drawn);
    if (focused) body.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus();
  }

  function buildHead(count) {
    return element("tr", { class: "together" }, element("td", { colspan: heads.length },
      `${count.toLocaleString("en")} sessions at the same time`));
  }

  function buildRow(row, title, together) {
    const mine = state.shown && row.id === state.shown.id;
    const go = () => { close(); choose(row.id); };
    const link = element("button", { class: "link", type: "button", "data-id": row.id,
      "aria-current": mine ? "true" : null, onclick: (event) => { event.stopPropagation(); go(); } }, title);
    const first = element("td", { class: "text" }, link, row.job ? buildJob(row) : null);
    return element("tr", { class: [together ? "inside" : "", row.slow ? "slow" : ""].join(" "), onclick: go }, first,
      element("td", { class: "text when" }, row.when),
      ...["lasted", "waits", "gain"].map((key) => element("td", { class: "number" }, row[key])),
      element("td", { class: "text" }, row.why));
  }

  // Commands of a list differ in their ends: what has no room is left out before them.
  function buildJob({ job, command }) {
    return element("div", { class: "note job", title: command }, element("span", {}, job.slice(0, -END_OF_JOB)),
      element("span", {}, job.slice(-END_OF_JOB)));
  }

  function sayRest(matching, drawn) {
    const said = [matching === state.sessions.length ? `${matching.toLocaleString("en")} sessions`
      : `${matching.toLocaleString("en")} of ${state.sessions.length.toLocaleString("en")} sessions`];
    if (newest) said[0] += ", the newest first";
    else if (state.groups) said[0] += ", those that lose most first";
    if (drawn < matching) said.push(`the first ${drawn.toLocaleString("en")} are shown`);
    if (state.left) said.push(`${state.left.toLocaleString("en")} not looked at yet`);
    return `${said.join("; ")}.`;
  }

  return { whole, show, forget: () => { state.groups = null; } };
}
