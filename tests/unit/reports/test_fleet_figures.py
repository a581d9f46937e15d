"""Figures of a fleet keep groups apart whose long names end alike."""

from tfdarshan.fleet.job_groups import JobGroup
from tfdarshan.reports.figures.fleet_figures import WIDEST_NAME, groups_figure

END = "/datasets/of/the/whole/laboratory/train"


def test_groups_whose_names_end_alike_have_a_bar_each():
    names = [f"/home/{user}{END}" for user in ("a", "<b>")]
    groups = [
        JobGroup(name, 1, lost, *(0.0,) * 4, *(0,) * 4, call_s=None, read_bytes_per_s=None)
        for name, lost in zip(names, (9, 5), strict=True)
    ]

    drawn = groups_figure(groups)

    (bar,) = drawn["data"]
    axis = drawn["layout"]["yaxis"]
    # THEN the worst is on top, and what is written beside the bars has room
    assert (bar["y"], bar["x"]) == ([f"/home/&lt;b&gt;{END}", names[0]], [5, 9])
    assert axis["tickvals"] == bar["y"] == bar["text"]
    assert axis["ticktext"] == [f"...{END[3 - WIDEST_NAME :]}"] * 2
