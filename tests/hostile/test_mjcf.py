"""MJCF from a stranger: no file is opened, no few bytes make a million bodies, and each refusal names its line."""

import contextlib
import os
import resource
import time

import pytest

from forearm.faults import ReadFault
from forearm.outside.escapes import terminal
from forearm.readers import load

pytest.importorskip("mujoco", reason="MuJoCo is not installed")

GEOM = '<geom size="0.1"/>'
BODY = f'<body><joint axis="1 0 0"/>{GEOM}</body>'


def model(before="", inside=BODY):
    return f"<mujoco>\n{before}\n<worldbody>{inside}</worldbody></mujoco>"


def read(tmp_path, text, **options):
    path = tmp_path / "arm.xml"
    path.write_text(text)
    return load(path, **options)


FILES = [f"file{side}" for side in ("", "right", "left", "up", "down", "front", "back")]


@pytest.mark.parametrize("attribute", FILES)
def test_no_attribute_opens_a_file(tmp_path, attribute):
    """A FIFO that nobody writes to: opening it would hang."""
    pipe = tmp_path / "pipe.png"
    os.mkfifo(pipe)
    text = model(f'<asset><texture type="cube" name="t" {attribute}="{pipe}"/></asset>')
    with pytest.raises(
        ReadFault, match=r"arm.xml:2: <texture> wants another file .*pipe.png.*allow_files=True"
    ):
        read(tmp_path, text)


MOTORS = "".join(
    "<motor " + " ".join(f'a{i}_{k}=""' for k in range(60)) + "/>" for i in range(4000)
)  # 240,000 attributes
BOMBS = {
    "replicate": model(
        inside=f'<replicate count="100"><replicate count="100">{BODY}</replicate></replicate>'
    ),
    "hfield": model('<asset><hfield name="h" nrow="30000" ncol="30000" size="1 1 1 1"/></asset>'),
    "nuser": model('<size nuser_body="100000000"/>'),
    "nkey": model('<size nkey="100000000"/>'),
    "composite": model(inside=f'<body><composite count="100 100 100" type="grid"/>{GEOM}</body>'),
    "flexcomp": model(inside='<flexcomp name="f" type="grid" count="300 300 300"/>'),
    "texture": model('<asset><texture type="2d" builtin="checker" width="100000" height="100000"/></asset>'),
    "numeric": model('<custom><numeric name="n" size="500000000"/></custom>'),
    "history": model('<actuator><motor joint="j" nsample="100000000"/></actuator>'),
    "bodies": model(inside=BODY * 5000),
    "geoms": model(inside=BODY + GEOM * 100_000),
    "joints": model(inside="<body>" + '<joint axis="1 0 0"/>' * 5000 + GEOM + "</body>"),
    "classes": model("<default>" + "".join(f'<default class="c{i}"/>' for i in range(9000)) + "</default>"),
    "deep": model(inside=BODY.replace("</body>", "") * 250 + "</body>" * 250),
    "deep classes": model(
        "<default>"
        + "".join(f'<default class="c{i}"><geom density="{i + 1}"/>' for i in range(200))
        + "</default>" * 201,
        '<body><joint axis="1 0 0"/><geom size="0.1" class="c199"/>' * 200 + "</body>" * 200,
    ),
    "attributes of every class": model(
        f"<default>{MOTORS}" + "".join(f'<default class="c{i}"/>' for i in range(250)) + "</default>"
    ),
    "attributes of every actuator": model(
        f"<default>{MOTORS}</default><actuator>" + "<motor/>" * 50_000 + "</actuator>"
    ),
    "zeros of every actuator": model(
        f'<default><motor ctrlrange="{"0 " * 10**6}"/></default><actuator>{"<motor/>" * 50_000}</actuator>'
    ),
    "a joint of every actuator": model(
        f'<default><motor joint="{"j" * 10**6}" armature="1"/></default><actuator>{"<motor/>" * 50_000}</actuator>'
    ),
    "geoms of one body": model(inside=BODY.replace(GEOM, GEOM * 4900)),
    "deepest": model(inside=BODY.replace("</body>", "") * 240 + "</body>" * 240),
    "huge": model(
        inside='<body pos="1e49 1e49 1e49"><joint axis="1e49 0 0"/><geom size="1e49" density="1e49"/></body>'
    ),
    "denormal": model(
        inside='<body pos="1e-320 0 0"><joint axis="1 0 0"/><geom size="1e-320" density="1e-320"/></body>'
    ),
    "comment": model("<!--" + "x" * 2**23 + "-->"),
}


WORD = "\x9b31m\u202e"


@pytest.mark.parametrize(
    "text",
    [
        model(inside=BODY.replace("<joint", f'<joint class="{WORD}"')),
        model(inside=f'{BODY}<body name="{WORD}"/><body name="{WORD}"/>'),
    ],
)
def test_what_mujoco_says_of_a_word_moved_the_cursor(tmp_path, text):
    with pytest.raises(ReadFault, match="MuJoCo refuses it") as caught:
        read(tmp_path, text)
    assert terminal(str(caught.value)) == str(caught.value)


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_costs_two_seconds_and_half_a_gigabyte_at_most(tmp_path, name):
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    with contextlib.suppress(ReadFault):
        assert read(tmp_path, BOMBS[name]).n <= 300
    assert time.process_time() - start < 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            BOMBS["replicate"],
            r"arm.xml:3: <replicate> in <worldbody> is not something that an arm is read from",
        ),
        (
            model(inside='<body><geom size="1" colour="red"/></body>'),
            r"arm.xml:3: <geom> has colour='red', which is",
        ),
        (
            model(inside='<body><geom type="mesh" mesh="m"/></body>'),
            r"<geom> has mesh='m': its shape is in another",
        ),
        (model(inside='<body pos="nan 0 0"/>'), r"<body> has pos='nan 0 0'; 'nan' is not a number of an arm"),
        (model(inside='<body pos="1e60 0 0"/>'), r"'1e60' is not a number of an arm"),
        (model(inside=f'<body name="{"x" * 300}"/>'), r"<body> has name=.* of 300 letters; give 200 at most"),
        (BOMBS["bodies"], r"<body> is one too many: files with up to 300 bodies are read"),
    ],
)
def test_what_an_arm_does_not_need_is_refused_with_element_and_line(tmp_path, text, words):
    with pytest.raises(ReadFault, match=words):
        read(tmp_path, text)


def test_what_has_no_influence_is_left_out(tmp_path):
    """Pictures, sensors, actuators, materials: the arm is the same without them."""
    extra = (
        '<visual><map znear="0.01"/></visual><asset><material name="red" rgba="1 0 0 1"/></asset>'
        '<actuator><motor joint="j" gear="3"/></actuator><sensor><jointpos joint="j"/></sensor>'
    )
    body = '<body><joint name="j" axis="1 0 0"/><site name="s"/><geom size="0.1" material="red" friction="1"/></body>'
    plain = '<body><joint name="j" axis="1 0 0"/><geom size="0.1"/></body>'
    assert read(tmp_path, model(extra, body)).links == read(tmp_path, model(inside=plain)).links
