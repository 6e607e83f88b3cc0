"""As fast as the drives allow.

A UR10e carries 8 kg through four points. A smooth motion within careful accelerations, the same path sped up as a
whole, and the fastest pace that speeds and torques allow anywhere along it.
"""

import forearm as fa

POINTS = [
    [0.0, -1.6, 1.6, -0.3, 0.2, 0.0],
    [0.6, -1.1, 1.2, -0.6, 0.4, 0.3],
    [1.2, -1.4, 1.5, -0.2, 0.0, 0.5],
    [1.5, -0.9, 0.8, 0.1, -0.2, 0.0],
]


def main():
    arm = fa.load("ur10e").with_payload(8.0, frame="tool")
    careful = fa.via_points(arm, POINTS, accelerations=1.5)
    print(f"careful:   {careful.duration:.3f} s, within limits: {bool(fa.feasible(arm, careful))}")

    scaled = fa.speed_up(arm, careful)
    print(
        f"sped up:   {scaled.motion.duration:.3f} s, {scaled.factor:.2f} times faster, limited by {scaled.limit}"
    )

    fastest = fa.fastest(arm, POINTS)
    print(f"fastest:   {fastest.duration:.3f} s, within limits: {bool(fa.feasible(arm, fastest))}")
    for name in sorted(set(fastest.binding), key=fastest.binding.count, reverse=True)[:3]:
        print(
            f"           {100 * fastest.binding.count(name) / len(fastest.binding):.0f} % of the path: {name}"
        )


if __name__ == "__main__":
    main()
