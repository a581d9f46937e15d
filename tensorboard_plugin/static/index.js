// The entry point: TensorBoard imports this module into the tab's frame and calls render(). All that the first words
// need is asked for at once: a file that another one names would be asked for when that is there.
const MODULES = ["panels.js", "picker.js", "plotly_loader.js"], ANSWERS = ["page", "sessions"];
const PREFIX = "p.tfdarshan.";

export async function render() {
  const root = new URL(".", import.meta.url);
  const beginning = askBeginning(root);  // the first: it takes longest, and browsers ask for six files at a time
  link("stylesheet", new URL("style.css", root));
  for (const name of MODULES) link("modulepreload", new URL(name, root));
  const asked = Object.fromEntries(ANSWERS.map((route) => [route, fetch(new URL(route, root))]));
  asked.beginning = beginning;
  try {
    const { start } = await import("./app.js");
    await start(root, asked);
  } catch (error) {
    document.body.textContent = `The I/O tab cannot be shown: ${error.message}`;
  }
}

function link(rel, url) {
  document.head.append(Object.assign(document.createElement("link"), { rel, href: url.href }));
}

// The first part of the Overview, if that is what the address leads to; a session that it does not name is the first.
function askBeginning(root) {
  const address = new URLSearchParams(parent.window.location.hash.slice(1));
  const [view, session, process] = ["view", "session", "process"].map((name) => address.get(PREFIX + name) || "");
  if (view && view !== "overview") return null;
  return { process, answer: fetch(new URL(`beginning?${new URLSearchParams({ session, process })}`, root)) };
}
