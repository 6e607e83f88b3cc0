"""Random numbers that are counted: Philox against its published answers, and the same whoever draws them."""

import numpy as np
import pytest
from scipy import stats

import forearm as fa
from forearm.sweeps.axes import axis_of, random_words

M0, M1 = 0xD2E7470EE14C6C93, 0xCA5A826395121157
W0, W1 = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B
MASK = 2**64 - 1


def philox(counter, key):
    """Philox 4x64-10 as Salmon et al. (2011) print it, in whole numbers."""
    c, (k0, k1) = list(counter), key
    for _ in range(10):
        high0, low0 = divmod(M0 * c[0], 2**64)
        high1, low1 = divmod(M1 * c[2], 2**64)
        c = [high1 ^ c[1] ^ k0, low1, high0 ^ c[3] ^ k1, low0]
        k0, k1 = (k0 + W0) & MASK, (k1 + W1) & MASK
    return c


def test_philox_as_its_authors_publish_it():
    """Known answers of Random123, kat_vectors: philox4x64 with ten rounds."""
    assert philox([0] * 4, [0] * 2) == [
        0x16554D9ECA36314C,
        0xDB20FE9D672D0FDC,
        0xD7E772CEE186176B,
        0x7E68B68AEC7BA23B,
    ]
    assert philox([MASK] * 4, [MASK] * 2) == [
        0x87B092C3013FE90B,
        0x438C3C67BE8D0224,
        0x9CC7D7C69CD777B6,
        0xA09CAEBF594F0BA0,
    ]


@pytest.mark.parametrize("first", [0, 5, 10**12])
def test_words_are_a_function_of_seed_axis_and_sample(first):
    words = random_words(7, "payload", first, 3, 6)
    import hashlib

    key = [7, int.from_bytes(hashlib.blake2b(b"payload", digest_size=8).digest(), "little")]
    for k in range(3):
        count = 2 * (first + k) + 1  # NumPy counts before it draws
        want = philox([count, 0, 0, 0], key) + philox([count + 1, 0, 0, 0], key)
        assert words[k].tolist() == want[:6]
    assert np.array_equal(random_words(7, "payload", first + 2, 1, 6)[0], words[2])


def test_distributions_are_what_they_say():
    axis = fa.Uniform([0.0, -1.0], [2.0, 1.0])
    values = axis.at(np.zeros(20000, int), 1, "x", 0)
    assert stats.kstest(values[:, 0], stats.uniform(0, 2).cdf).pvalue > 1e-3
    assert stats.kstest(values[:, 1], stats.uniform(-1, 2).cdf).pvalue > 1e-3
    assert abs(np.corrcoef(values.T)[0, 1]) < 0.03
    normal = fa.Normal(3.0, 0.5).at(np.zeros(20000, int), 1, "y", 0)
    assert stats.kstest(normal, stats.norm(3.0, 0.5).cdf).pvalue > 1e-3


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (3.0, "give fa.Uniform"),
        ("abc", "give fa.Uniform"),
        ([], "is empty"),
        ({"a": 1}, "give fa.Uniform"),
    ],
)
def test_what_is_no_axis_is_refused(given, told):
    with pytest.raises(fa.StateFault, match=told):
        axis_of("payload", given)


def test_bounds_that_are_none():
    with pytest.raises(fa.StateFault, match="the lower one first"):
        fa.Uniform(2, 1)
    with pytest.raises(fa.StateFault, match="shape"):
        fa.Uniform([0, 0], [1, 1, 1])
    with pytest.raises(fa.StateFault, match="0 or more"):
        fa.Normal(0, -1)
    with pytest.raises(fa.StateFault, match="shape"):
        fa.Normal([0, 0], [1, 1, 1])
