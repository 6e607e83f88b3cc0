"""Pose and Inertia: group laws, roll-pitch-yaw as others have it, shapes by integration, two ways to one tensor."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from arms import random_body, random_rotation
from close import assert_close
from forearm.algebra import parallel_axis
from forearm.frames import Pose
from forearm.inertia import Inertia
from forearm.link import Link

angles = st.floats(-np.pi, np.pi)
lengths = st.floats(-2, 2)
poses = st.builds(Pose.at, st.tuples(lengths, lengths, lengths), st.tuples(angles, angles, angles))


def same_pose(a, b, eps=16):
    assert_close(a.R, b.R, eps=eps, scale=1)
    assert_close(a.p, b.p, eps=eps, scale=8)


@given(poses, poses, poses)
@settings(max_examples=50, deadline=None)
def test_poses_are_a_group(a, b, c):
    same_pose((a @ b) @ c, a @ (b @ c))
    same_pose(a @ a.inverse(), Pose())
    same_pose(a.inverse() @ a, Pose())
    same_pose((a @ b).inverse(), b.inverse() @ a.inverse())
    same_pose(a @ Pose(), a, eps=0)
    same_pose(Pose() @ a, a, eps=0)


@given(poses, poses)
@settings(max_examples=50, deadline=None)
def test_pose_is_its_matrix(a, b):
    assert Pose.from_matrix(a.matrix) == a
    assert_close((a @ b).matrix, a.matrix @ b.matrix, eps=8, scale=8)


@given(poses)
@settings(max_examples=25, deadline=None)
def test_poses_compare_hash_and_pickle(a):
    again = pickle.loads(pickle.dumps(a))
    assert again == a
    assert hash(again) == hash(a)
    assert a.replace() == a


@given(angles, angles, angles)
@settings(max_examples=50, deadline=None)
def test_roll_pitch_yaw_as_scipy_has_it(roll, pitch, yaw):
    want = Rotation.from_euler("xyz", (roll, pitch, yaw)).as_matrix()
    assert_close(Pose.at(rpy=(roll, pitch, yaw)).R, want, eps=8, scale=1)


def test_right_angles_are_exact():
    for k in range(-4, 5):
        R = Pose.at(rpy=(k * np.pi / 2, -k * np.pi / 2, np.pi)).R
        assert set(np.abs(R).ravel()) <= {0.0, 1.0}


def test_arrays_cannot_be_written():
    pose = Pose.at((1, 2, 3))
    with pytest.raises(ValueError, match="read-only"):
        pose.R[0, 0] = 2
    with pytest.raises(ValueError, match="read-only"):
        pose.p[0] = 2
    with pytest.raises(AttributeError):
        pose.translation = (0, 0, 0)


# -- inertia ---------------------------------------------------------------------------------------------


def cloud_tensor(points, masses):
    """Inertia about the origin of point masses, by its definition."""
    return sum(m * ((p @ p) * np.eye(3) - np.outer(p, p)) for p, m in zip(points, masses, strict=True))


def gauss(low, high, n=4):
    x, w = np.polynomial.legendre.leggauss(n)
    return (high - low) / 2 * x + (high + low) / 2, w * (high - low) / 2


def solid_of_revolution(mass, radius_at, half_length):
    """Tensor of a uniform solid about z, by Gauss quadrature in cylinder coordinates (exact for polynomials)."""
    points, weights = [], []
    for z, wz in zip(*gauss(-half_length, half_length, 8), strict=True):
        for r, wr in zip(*gauss(0, radius_at(z)), strict=True):
            for k in range(8):
                phi = np.pi / 4 * k
                points.append((r * np.cos(phi), r * np.sin(phi), z))
                weights.append(wz * wr * r)
    weights = np.array(weights) * mass / np.sum(weights)
    return cloud_tensor(np.array(points), weights)


def test_box_by_integration():
    x, y, z = 0.3, 0.5, 0.7
    grid = [(gauss(-s / 2, s / 2, 2)) for s in (x, y, z)]
    points = np.array([(a, b, c) for a in grid[0][0] for b in grid[1][0] for c in grid[2][0]])
    assert_close(Inertia.box(2.0, x, y, z).tensor, cloud_tensor(points, [2.0 / 8] * 8), eps=8)


def test_cylinder_and_sphere_by_integration():
    cylinder = solid_of_revolution(3.0, lambda z: 0.2, 0.4)
    assert_close(Inertia.cylinder(3.0, 0.2, 0.8).tensor, cylinder, eps=32)
    sphere = solid_of_revolution(3.0, lambda z: np.sqrt(0.25 - z * z), 0.5)
    assert_close(Inertia.sphere(3.0, 0.5).tensor, sphere, eps=32)


def test_shapes_along_each_axis():
    for i, axis in enumerate("xyz"):
        rod = np.diag(Inertia.rod(2.0, 0.6, axis).tensor)
        assert_close(rod, [0.0 if j == i else 2.0 * 0.36 / 12 for j in range(3)], eps=4)
        thin = np.diag(Inertia.cylinder(2.0, 0.0, 0.6, axis).tensor)
        assert_close(thin, rod, eps=4)
    assert Inertia.point() == Inertia.about_com(np.zeros((3, 3)))


def test_components_matrix_and_cad_signs_are_one_tensor():
    matrix = [[3, 0.1, -0.2], [0.1, 4, 0.3], [-0.2, 0.3, 5]]
    named = dict(Ixx=3, Iyy=4, Izz=5)
    tensor = Inertia.about_com(**named, Ixy=0.1, Ixz=-0.2, Iyz=0.3, products="tensor")
    cad = Inertia.about_com(**named, Ixy=-0.1, Ixz=0.2, Iyz=-0.3, products="cad")
    flipped = Inertia.about_com([[3, -0.1, 0.2], [-0.1, 4, -0.3], [0.2, -0.3, 5]], products="cad")
    assert tensor == Inertia.about_com(matrix) == cad == flipped
    assert Inertia.about_com(**named, Ixy=0, Ixz=0.0) == Inertia.about_com(np.diag([3, 4, 5]))


@pytest.mark.parametrize("seed", range(5))
def test_about_com_and_about_origin_describe_one_body(seed):
    rng = np.random.default_rng(seed)
    body = random_body(rng)
    moved = np.array(body["inertia"].tensor) + parallel_axis(body["mass"], body["com"])
    a = Link("revolute", **body)
    b = Link("revolute", **{**body, "inertia": Inertia.about_origin(moved)})
    for view in ("about_com", "ten"):
        for got, want in zip(getattr(a, view), getattr(b, view), strict=True):
            assert_close(got, want, eps=16, scale=np.max(np.abs(moved)))


@pytest.mark.parametrize("seed", range(5))
def test_views_are_those_of_a_cloud_of_points(seed):
    rng = np.random.default_rng(seed)
    points, masses = rng.normal(size=(7, 3)), rng.uniform(0.1, 1, 7)
    mass, com = masses.sum(), masses @ points / masses.sum()
    link = Link("revolute", mass=mass, com=com, inertia=Inertia.about_com(cloud_tensor(points - com, masses)))
    assert_close(link.ten.inertia, cloud_tensor(points, masses), eps=32)
    assert_close(link.ten.first_moment, masses @ points, eps=8, scale=1)
    homogeneous = np.column_stack([points, np.ones(7)])
    assert_close(link.pseudo_inertia, homogeneous.T @ np.diag(masses) @ homogeneous, eps=32)
    assert np.linalg.eigvalsh(link.pseudo_inertia)[0] > 0


@pytest.mark.parametrize("seed", range(5))
def test_inertia_in_other_axes(seed):
    """`axes` turns the numbers into link axes: the body's own axes seen from the link."""
    rng = np.random.default_rng(seed)
    R, points, masses = random_rotation(rng), rng.normal(size=(6, 3)), rng.uniform(0.1, 1, 6)
    own = cloud_tensor(points, masses)
    assert_close(Inertia.about_com(own, axes=R).tensor, cloud_tensor(points @ R.T, masses), eps=32)
