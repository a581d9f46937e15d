"""The capacity curve as a page of its own: plotly's script is in it, nothing is fetched."""

from __future__ import annotations

from pathlib import Path

from tfdarshan.errors import StorageError, reason
from tfdarshan.reports.figures.theme import CONFIG
from tfdarshan.staging.advice import Advice
from tfdarshan.units import human_bytes, percent


def write_plot(advice: Advice, path: Path) -> None:
    """Write the page.

    Raises:
        StorageError: The page cannot be written.
    """
    import plotly.graph_objects as go  # takes a while

    points = advice.curve
    most = points[-1].saved_s if points else 1.0
    figure = go.Figure(
        go.Scatter(
            x=[0, *(point.bytes for point in points)],
            y=[0, *(100 * point.saved_s / most for point in points)],
            customdata=[
                [0, "0 B", percent(0, most)],
                *([one.files, human_bytes(one.bytes), percent(one.saved_s, most)] for one in points),
            ],
            hovertemplate="%{customdata[0]:,} files, %{customdata[1]}: %{customdata[2]}<extra></extra>",
            mode="lines",
            name="this advice",
        )
    )
    for rule in advice.rules:
        figure.add_scatter(
            x=[rule.bytes],
            y=[100 * rule.saved_thread_s / most],
            mode="markers",
            marker={"size": 10},
            name=f"{rule.name}: {rule.files:,} files",
        )
    if advice.knee is not None:
        figure.add_vline(advice.knee.bytes, line_dash="dot", annotation_text="knee")
    figure.update_layout(
        title=f"What staging to {advice.question.fast} saves",
        xaxis_title="bytes staged",
        xaxis_tickformat="~s",
        yaxis_title="of what staging every file saves (%)",
        template="plotly_white",
    )
    try:
        # A copy: plotly removes entries from what it is given.
        figure.write_html(path, include_plotlyjs=True, full_html=True, config=dict(CONFIG))
    except OSError as error:
        raise StorageError(
            f"the plot {path} cannot be written: {reason(error)}; name another file."
        ) from error
