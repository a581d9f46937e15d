// The entry point: TensorBoard imports this module into the tab's frame and calls render().
export async function render() {
  const root = new URL(".", import.meta.url);
  document.head.append(Object.assign(document.createElement("link"), {
    rel: "stylesheet", href: new URL("style.css", root).href,
  }));
  try {
    await script(new URL("plotly.js", root));
    const { start } = await import("./app.js");
    await start(root);
  } catch (error) {
    document.body.textContent = `The I/O tab cannot be shown: ${error.message}`;
  }
}

function script(url) {
  return new Promise((done, failed) => {
    const made = document.createElement("script");
    made.onload = done;
    made.onerror = () => failed(new Error(
      "plotly, which draws the charts, could not be loaded; install it with `pip install plotly`"));
    made.src = url.href;
    document.head.append(made);
  });
}
