import pytest

from tfdarshan.comparison.condition import CHANGE, RELATIVE, VALUE, parse_condition
from tfdarshan.comparison.metric import METRICS
from tfdarshan.errors import ConfigurationError


@pytest.mark.parametrize(
    ("text", "kind", "limit"),
    [
        ("read_bandwidth<-10%", RELATIVE, -10),
        ("duration > 5 %", RELATIVE, 5),
        ("duration>+5.5%", RELATIVE, 5.5),
        ("opens>+100", CHANGE, 100),
        ("read_time<-250ms", CHANGE, -0.25),
        ("read_time>=2", VALUE, 2.0),
        ("duration>1.5min", VALUE, 90.0),
        ("bytes_read<=1.5GB", VALUE, 1.5e9),
        ("bytes_read>4KiB", VALUE, 4096),
        ("read_bandwidth<100MB/s", VALUE, 1e8),
        ("input_wait_share>.3", VALUE, 0.3),
        ("input_wait_share>+30%", RELATIVE, 30),
        ("input_wait_share<-30%", RELATIVE, -30),
    ],
)
def test_a_condition_is_read_as_it_is_written(text, kind, limit):
    condition = parse_condition(text)

    assert condition.kind == kind
    assert condition.limit == pytest.approx(limit, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "before", "after", "holds"),
    [
        # The bounds themselves: a drop by exactly a tenth is not more than a tenth.
        ("read_bandwidth<-10%", 100.0, 90.0, False),
        ("read_bandwidth<=-10%", 100.0, 90.0, True),
        ("read_bandwidth<-10%", 100.0, 89.0, True),
        ("read_bandwidth<-10%", 100.0, 200.0, False),
        ("opens>+100", 50, 150, False),
        ("opens>+100", 50, 151, True),
        ("opens<-1", 5, 3, True),
        ("opens>100", 500, 100, False),
        ("opens>100", None, 101, True),
        # From nothing no share can be told, but nothing that stays nothing has not changed.
        ("opens>+5%", 0, 3, None),
        ("opens>+5%", 0, 0, False),
        ("opens>+5%", None, 3, None),
        ("opens>5", 4, None, None),
    ],
)
def test_a_condition_is_judged_on_exact_numbers(text, before, after, holds):
    assert parse_condition(text).holds(before, after) is holds


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("read_bandwith<-10%", "there is no metric 'read_bandwith': did you mean read_bandwidth"),
        ("wait>1s", "did you mean input_wait"),
        ("zzz>1", "take one of duration, step_time"),
        ("duration", "is not a condition: write METRIC<VALUE"),
        ("duration=5s", "is not a condition"),
        ("duration<", "is not a condition"),
        ("duration<--5%", "is not a condition"),
        ("", "is not a condition"),
        ("opens>5MB", "has a unit that opens does not: 'MB'; its units are: none"),
        ("duration>5MB", "its units are: ns, us, ms, s, min"),
        ("bytes_read>5MB/s", "'MB/s'"),
        ("input_wait_share>30%", "may mean two things: write 'input_wait_share>0.3' for the figure itself"),
        ("input_wait_share<=5.5%", "'input_wait_share<=0.055' for the figure itself, or"),
        ("input_wait_share<=5.5%", "'input_wait_share<=+5.5%' for its change."),
    ],
)
def test_wrong_conditions_are_said_in_a_sentence(text, said):
    with pytest.raises(ConfigurationError) as error:
        parse_condition(text)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_names_of_metrics_are_words_that_conditions_can_hold():
    names = [metric.name for metric in METRICS]
    assert len(set(names)) == len(names)
    for name in names:
        assert parse_condition(f"{name}>1").metric.name == name
