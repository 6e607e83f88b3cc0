"""What the entries do to the torques, and friction, as LLVM's text, for a vector of states."""

from __future__ import annotations

from forearm.tabulated.programs.scratch_areas import ProgramPart


class Actions(ProgramPart):
    """`@actions(scratch, count)`: what the entries do to the torques, and friction, as `lookup_tables` has it."""

    def function(self) -> str:
        """The text."""
        w, area, lanes = self.w, self.area, self.lanes
        known = {(g, k): value for g in range(len(area.plan.grids)) for k, value in self._constants(g)}
        with w.loop("%count", lanes.width) as state:
            self.at = w.let(f"mul i64 {state}, 8")
            self.factors: dict[tuple[str, int], str] = {}
            torques = [""] * area.n
            for g, grid in enumerate(area.plan.grids):
                for k, entry in enumerate(grid.entries):
                    value = known.get((g, k)) or w.load(lanes, self.where(area.entry(g, k), self.at))
                    for term in entry.terms:
                        amount = value
                        if term.times != 1:
                            amount = self.does("fmul", value, lanes.number(term.times))
                        for factor in term.factors:
                            amount = self.does("fmul", amount, self._factor(*factor))
                        before = torques[term.joint]
                        torques[term.joint] = self.does("fadd", before, amount) if before else amount
            for joint, torque in enumerate(torques):
                total = self._with_friction(joint, torque or lanes.number(0.0))
                w.store(lanes, total, self.where(area.torque + joint, self.at))
        return w.function(
            "internal void @actions(ptr noalias %table, ptr noalias %scratch, i64 %count) nounwind noinline"
        )

    def _constants(self, g: int) -> list[tuple[int, str]]:
        """The entries of a grid without axes, in every lane: they are the same for all states."""
        grid, stored, w, found = self.area.plan.grids[g], self.area.stored, self.w, []
        if not grid.axes:
            numbers = self.told((g, "numbers"), "ptr")
            for k in range(len(grid.entries)):
                value = w.load(stored, w.at(numbers, k * stored.itemsize))
                if stored.dtype == "float32":
                    value = w.let(f"fpext float {value} to double")
                found.append((k, self.everywhere(value, "double", self.lanes.width)))
        return found

    def _factor(self, what: str, joint: int) -> str:
        if (what, joint) not in self.factors:
            place = self.where(self.area.state(what, joint), self.at)
            self.factors[what, joint] = self.w.load(self.lanes, place)
        return self.factors[what, joint]

    def _with_friction(self, joint: int, torque: str) -> str:
        drive, does, number = self.area.plan.arm.links[joint].drive, self.does, self.lanes.number
        (forth, back), v, friction = drive.coulomb, "", ""
        if forth or back or drive.viscous:
            v = self._factor("qd", joint)
        if forth or back:
            squared = does("fadd", does("fmul", v, v), number(drive.smoothing**2))
            root = self.w.let(
                f"call {self.lanes.type} @llvm.sqrt.{self.lanes.suffix}({self.lanes.type} {squared})"
            )
            s = does("fdiv", v, root)
            slope = does("fmul", number((forth - back) / 2), s)
            friction = does("fmul", s, does("fadd", number((forth + back) / 2), slope))
        if drive.viscous:
            part = does("fmul", number(drive.viscous), v)
            friction = does("fadd", friction, part) if friction else part
        return does("fadd", torque, friction) if friction else torque
