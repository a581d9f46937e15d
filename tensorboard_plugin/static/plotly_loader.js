// Loads plotly, which takes longer than all else of the page, once something of it is on the screen.
const WAITS_MS = 200;
let loading = null;

export function loadPlotly(root) {
  loading ??= painted().then(() => script(new URL("plotly.js", root)));
  return loading;
}

// A page that nobody sees is not painted: then a while is waited.
function painted() {
  return new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done, 0));
    setTimeout(done, WAITS_MS);
  });
}

function script(url) {
  return new Promise((done, failed) => {
    const made = document.createElement("script");
    made.onload = done;
    made.onerror = () => {
      loading = null;
      failed(new Error("plotly, which draws the charts, could not be loaded; install it with `pip install plotly`"));
    };
    made.src = url.href;
    document.head.append(made);
  });
}
