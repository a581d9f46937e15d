// The entry point: TensorBoard imports this module into the tab's frame and calls render(). All that the first words
// need is asked for at once: a file that another one names would be asked for when that is there.
const MODULES = ["panels.js", "picker.js", "plotly_loader.js"], ANSWERS = ["page", "sessions"];

export async function render() {
  const root = new URL(".", import.meta.url);
  link("stylesheet", new URL("style.css", root));
  for (const name of MODULES) link("modulepreload", new URL(name, root));
  const asked = Object.fromEntries(ANSWERS.map((route) => [route, fetch(new URL(route, root))]));
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
