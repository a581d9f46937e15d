"""Takes the picture of xprof's trace viewer in docs/: profiles a small job and opens its trace in Chromium.

Needs the extra `screenshot` and a Chromium. Nothing is fetched from elsewhere: the viewer itself is in xprof.
"""

import argparse
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

PORT = 6123
JOB = """
import glob, tfdarshan
tfdarshan.enable()
import tensorflow as tf

paths = []
for number in range(12):
    paths.append(f"{number:02}.bytes")
    with open(paths[-1], "wb") as file:
        file.write(bytes(range(256)) * 32_768)

def load(path):
    data = tf.reshape(tf.io.decode_raw(tf.io.read_file(path), tf.uint8), (-1, 4096))
    return tf.cast(data[::16, ::8], tf.float32), tf.ones((128, 1))

batches = tf.data.Dataset.from_tensor_slices(paths * 3).map(load, num_parallel_calls=2)
model = tf.keras.Sequential([tf.keras.Input((512,)), tf.keras.layers.Dense(256), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(batches, verbose=0)
tf.profiler.experimental.start("logs")
model.fit(batches.take(12), verbose=0)
tf.profiler.experimental.stop()
"""


def open_viewer(page: Page, trace: Path) -> None:
    """Open the trace viewer alone: the tab around it fetches its charts from the internet."""
    query = urllib.parse.urlencode(
        {"run": trace.parent.name, "tag": "trace_viewer@", "host": trace.name.removesuffix(".xplane.pb")}
    )
    data = urllib.parse.quote(f"/data/plugin/profile/data?{query}", safe="")
    page.goto(
        f"http://localhost:{PORT}/data/plugin/profile/trace_viewer_index.html"
        f"?trace_data_url={data}&is_streaming=true&is_oss=true"
    )
    page.wait_for_selector("text=I/O thread", timeout=90_000)
    page.wait_for_timeout(3_000)


def select_a_read(page: Page) -> None:
    """Click along the first thread's line until a call is hit."""
    line = page.locator("text=I/O thread").first.bounding_box()
    assert line is not None
    height = line["y"] + line["height"] / 2
    page.keyboard.press("1")  # the tool that selects
    for left in range(300, 1_300, 12):
        page.mouse.click(left, height)
        page.wait_for_timeout(150)
        if page.locator("text=offset").count():
            break
    page.wait_for_timeout(1_500)


def main() -> None:
    """Make the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", type=Path, nargs="?", default=Path("docs/images/trace-viewer.png"))
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", JOB], cwd=folder, check=True)
        (trace,) = Path(folder).glob("logs/plugins/profile/*/*.xplane.pb")
        board = [sys.executable, "-m", "tensorboard.main", "--logdir", f"{folder}/logs", "--port", str(PORT)]
        server = subprocess.Popen(board, stderr=subprocess.DEVNULL)
        try:
            wait_for_server()
            with sync_playwright() as browsers:
                browser = browsers.chromium.launch(executable_path=arguments.chromium, args=["--no-sandbox"])
                page = browser.new_page(viewport={"width": 1400, "height": 760})
                open_viewer(page, trace)
                select_a_read(page)
                page.screenshot(path=arguments.picture)
                browser.close()
        finally:
            server.terminate()
            server.wait()


def wait_for_server() -> None:
    """Wait until TensorBoard answers, two minutes at most."""
    for _ in range(240):
        try:
            urllib.request.urlopen(f"http://localhost:{PORT}/").close()
            return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.5)
    sys.exit("TensorBoard did not start")


if __name__ == "__main__":
    main()
