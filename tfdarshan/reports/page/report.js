// The report: all views are in the page; the part after # in its address says which one is shown.
import { drawPanels, element, restyle } from "./panels.js";

const report = JSON.parse(document.getElementById("report").textContent);
const container = document.getElementById("view"), banner = document.getElementById("banner");
const theme = { mode: "light", templates: report.templates, config: report.config };

function chosen() {
  const name = window.location.hash.slice(1);
  return report.views.find((view) => view.name === name) || report.views[0];
}

function show() {
  const view = chosen();
  for (const button of document.querySelectorAll("nav button")) {
    button.setAttribute("aria-selected", String(button.dataset.view === view.name));
  }
  drawPanels(banner, view.banner, theme);
  return drawPanels(container, view.panels, theme).then(() => { container.dataset.drawn = view.name; });
}

function setMode(mode) {
  theme.mode = mode;
  document.documentElement.classList.toggle("dark", mode === "dark");
  document.getElementById("mode").textContent = mode === "dark" ? "Light" : "Dark";
}

for (const view of report.views) {
  document.querySelector("nav").append(element("button", {
    role: "tab", "data-view": view.name, onclick: () => { window.location.hash = view.name; },
  }, view.title));
}
document.getElementById("mode").addEventListener("click", () => {
  setMode(theme.mode === "dark" ? "light" : "dark");
  restyle(container, theme);
});
window.addEventListener("hashchange", show);
setMode(window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
show();
