"""Robots in TOML, convention 'tree': links with parents, couplings, tools, a base that may be free.

[[link]]      as in other conventions, with parent = the name of an earlier link (or "base"), the pose xyz, rpy of the
              joint seen from the parent's frame, theta, d, and after = { xyz, rpy } from there to the link's frame
[[coupling]]  joint = the follower, leaders = { name = factor, .. }, offset
[[tool]]      name, link, xyz, rpy; [[frame]] likewise
[trunk]       mass, com, inertia of the base itself; free = true frees it
"""

from pathlib import Path
from typing import Any

from forearm.arm import Defect
from forearm.couplings import Coupling
from forearm.faults import DEFECTS, ArmFault, link_faults
from forearm.frames import NamedFrame
from forearm.free_base import PLACE
from forearm.link import NO_BODY, Body
from forearm.readers.serial_chain import MAX_JOINTS
from forearm.readers.toml_format.toml_links import body_fields, carrier, pose_of, row_of
from forearm.readers.toml_format.toml_table import TomlTable
from forearm.robot import Robot


def robot_of_toml(
    top: TomlTable, name: str, items: list[dict[str, Any]], fields: dict[str, Any], keep: bool
) -> Robot:
    """The robot of a file whose head is read already; `keep` declares impossible inertias as defects."""
    if len(items) > MAX_JOINTS:
        top.fault(None, f"the file has {len(items)} links; robots of up to {MAX_JOINTS} are read from files.")
    dynamics, names, rows = fields["dynamics"], list[str](), []
    for i, item in enumerate(items):
        rows.append(row_of(top, i, item, "tree", dynamics, names))
        names.append(rows[-1].link.name)
    links = [row.link for row in rows]
    free, trunk = top.flag("free", False), _trunk(top)
    defects = _defects(top, names)
    if keep and dynamics:
        bodies = [(0, trunk.as_link)] if free else []
        known = {(defect.link, defect.kind) for defect in defects}
        found = [(i, kind) for i, x in (*bodies, *enumerate(links, 1)) for kind, _ in link_faults(x)]
        reason = f"so in {Path(top.source.file).name}"
        defects += [Defect(i, kind, reason) for i, kind in found if (i, kind) not in known]
    couplings = [_coupling(top, i, item) for i, item in enumerate(top.tables("coupling"))]
    fields |= {key: _named_frames(top, word, names) for key, word in (("tools", "tool"), ("frames", "frame"))}
    fields["configurations"] = _configurations(top, links, {c.joint for c in couplings}, free)
    top.done()
    try:
        return Robot(
            name,
            tuple(links),
            tuple(row.parent for row in rows),
            tuple(row.before for row in rows),
            free=free,
            trunk=trunk,
            couplings=tuple(couplings),
            defects=tuple(defects),
            **fields,
        )
    except ArmFault as fault:
        raise type(fault)(f"{top.source.place_of_bodies(links, defects)}: {fault}") from None


def _trunk(top: TomlTable) -> Body:
    table = top.table("trunk", "[trunk]")
    if table is None:
        return NO_BODY
    try:
        found = Body(**body_fields(table, True))
    except ArmFault as fault:
        table.fault(None, str(fault))
    table.done()
    return found


def _coupling(top: TomlTable, index: int, item: dict[str, Any]) -> Coupling:
    table = TomlTable(top.source, ("coupling", index), item, f"coupling {index + 1}")
    joint, offset = table.text("joint"), table.scalar("offset", "number", 0.0)
    leaders = table.table("leaders", f"{table.title}, leaders")
    if leaders is None:
        table.fault(
            None,
            "'leaders' is missing; give leaders = { .. = 1.0 }: the joints that lead, each with a factor.",
        )
    terms = tuple((name, leaders.scalar(name, "number")) for name in leaders.content)
    table.done()
    try:
        return Coupling(joint, terms, offset)
    except ArmFault as fault:
        table.fault(None, str(fault))


def _named_frames(top: TomlTable, key: str, names: list[str]) -> tuple[NamedFrame, ...]:
    """Tables [[tool]] or [[frame]], each with its link (a name, a number, or "base") and its pose there."""
    found = []
    for index, item in enumerate(top.tables(key)):
        table = TomlTable(top.source, (key, index), item, f"{key} {index + 1}")
        name, link, pose = table.text("name"), carrier(table, "link", names), pose_of(table)
        table.done()
        try:
            found.append(NamedFrame(name, link, pose))
        except ArmFault as fault:
            table.fault("name", str(fault))
    return tuple(found)


def _defects(top: TomlTable, names: list[str]) -> list[Defect]:
    found = []
    for index, item in enumerate(top.tables("defect")):
        table = TomlTable(top.source, ("defect", index), item, f"defect {index + 1}")
        link = carrier(table, "link", names)
        found.append(Defect(link, table.word("kind", DEFECTS), table.text("reason")))
        table.done()
    return found


def _configurations(top: TomlTable, links: list[Any], followers: set[str], free: bool) -> Any:
    """Named states q: the place of a free base, then the independent joints."""
    table = top.table("configurations", "[configurations]")
    if table is None:
        return ()
    before = ["length"] * 3 + ["number"] * (len(PLACE) - 3) if free else []
    own = ["angle" if link.revolute else "length" for link in links if link.name not in followers]
    return tuple((name, table.quantities(name, [*before, *own])) for name in table.content)
