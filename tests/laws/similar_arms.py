"""An arm in other units of length, mass and time: the same arm, so every number follows by its dimension.

The units are powers of two, which change no digit: whatever is compared with a length, a mass or a time that is written
into a program shows in the last bit.
"""

from dataclasses import dataclass

import numpy as np

import forearm as fa


@dataclass(frozen=True)
class Units:
    """How many of the new units are one of the old."""

    length: float = 1.0
    mass: float = 1.0
    time: float = 1.0

    @property
    def speed(self):
        return self.length / self.time

    @property
    def acceleration(self):
        return self.speed / self.time

    @property
    def force(self):
        return self.mass * self.acceleration

    @property
    def moment(self):
        return self.force * self.length

    @property
    def inertia(self):
        return self.mass * self.length**2

    def coordinate(self, link):
        """What a joint's position is measured in."""
        return 1.0 if link.revolute else self.length

    def effort(self, link):
        """What a joint's torque or force is measured in."""
        return self.moment if link.revolute else self.force

    def positions(self, arm):
        return np.array([self.coordinate(link) for link in arm.links])

    def efforts(self, arm):
        return np.array([self.effort(link) for link in arm.links])

    def arm(self, arm):
        """The arm in these units."""
        return arm.replace(
            links=tuple(map(self._link, arm.links)),
            base=self._pose(arm.base),
            tool=self._pose(arm.tool),
            gravity=self._times(arm.gravity, self.acceleration),
            frames=tuple(fa.NamedFrame(f.name, f.link, self._pose(f.pose)) for f in arm.frames),
            configurations=(),
        )

    def _link(self, link):
        unit, effort = self.coordinate(link), self.effort(link)
        drive = link.drive
        return link.replace(
            pose=self._pose(link.pose),
            d=link.d * self.length,
            offset=link.offset * unit,
            mass=link.mass * self.mass,
            com=self._times(link.com, self.length),
            inertia=fa.Inertia(np.array(link.inertia.tensor) * self.inertia, link.inertia.about),
            drive=drive.replace(
                rotor_inertia=drive.rotor_inertia * self.mass * (self.length / unit) ** 2,
                viscous=drive.viscous * effort / (unit / self.time),
                coulomb=self._times(drive.coulomb, effort),
                smoothing=drive.smoothing * unit / self.time,
            ),
            limits=link.limits and self._times(link.limits, unit),
            speed_limit=link.speed_limit and link.speed_limit * unit / self.time,
            effort_limit=link.effort_limit and link.effort_limit * effort,
        )

    def _pose(self, pose):
        return fa.Pose(pose.rotation, self._times(pose.translation, self.length))

    @staticmethod
    def _times(values, unit):
        return tuple(x * unit for x in values)
