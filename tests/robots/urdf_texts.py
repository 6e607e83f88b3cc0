"""URDF texts as other programs are given them: without shapes, on a base that floats."""

from pathlib import Path
from xml.etree import ElementTree


def without_shapes(path: Path) -> str:
    """The file's text without what it draws, touches and follows with."""
    root = ElementTree.parse(path).getroot()
    for element in [*root.iter("link"), *root.iter("joint")]:
        for part in [x for x in element if x.tag in ("visual", "collision", "mimic")]:
            element.remove(part)
    return ElementTree.tostring(root, encoding="unicode")


def floating(text: str, root: str) -> str:
    """The same robot, its root link floating in a world."""
    joint = f'<joint name="float" type="floating"><parent link="world"/><child link="{root}"/></joint>'
    return text.replace("</robot>", f'<link name="world"/>{joint}</robot>')
