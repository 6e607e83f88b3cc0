"""What an operation of a graph is in bytecode: for one state (doubles), and for two at once (pairs of doubles)."""

from abc import ABC, abstractmethod
from typing import ClassVar

from forearm.compiler.wasm.bytecode import (
    F64,
    SELECT,
    V128,
    Module,
    f64,
    get,
    i32,
    load,
    put,
    store,
    unsigned,
)


class Dialect(ABC):
    """Operations as bytecode; operands are bytecode that leaves them on the stack."""

    lanes: int
    """States at once."""
    kind: bytes
    """Type of a value."""
    operations: ClassVar[dict[str, bytes]]
    """Those that take their operands from the stack: add, sub, mul, div, neg, sqrt."""

    def __init__(self, module: Module) -> None:
        self.module = module

    @abstractmethod
    def constant(self, value: float) -> bytes:
        """The same number in every lane."""

    @abstractmethod
    def positive(self, x: bytes, a: bytes, b: bytes) -> bytes:
        """A where x > 0, else b."""

    @abstractmethod
    def load(self, row: int, other: int, offset: int) -> bytes:
        """An element of each state's row; local variables have the rows' addresses."""

    @abstractmethod
    def store(self, row: int, other: int, offset: int, value: bytes, free: int) -> bytes:
        """An element into each state's row; `free` is a local variable for use on the way."""

    # Bits of doubles, for the quadrants of angles --------------------------------------------------------

    @abstractmethod
    def within(self, x: bytes, limit: float, y: float) -> bytes:
        """X where |x| <= limit, else y."""

    @abstractmethod
    def choose(self, low_bit_of: bytes, a: bytes, b: bytes) -> bytes:
        """A where the lowest bit of a double is set, else b."""

    @abstractmethod
    def signed_by(self, value: bytes, bits: bytes, both: bool) -> bytes:
        """The value, its sign turned where bit 1 (both: bit 0 or bit 1, not both) of a double is set."""

    @abstractmethod
    def odd(self, value: bytes, rest: bytes) -> bytes:
        """The sum of both rounded to odd: where there is a rest, the neighbour with its last bit set."""

    @abstractmethod
    def all_nonzero(self, x: bytes) -> bytes:
        """Whether |x| > 0 in every lane, as an integer."""

    @abstractmethod
    def nonzero(self, x: bytes, a: bytes, b: bytes) -> bytes:
        """A where |x| > 0, else b (where x is NaN, too)."""

    def binary(self, op: str, a: bytes, b: bytes) -> bytes:
        """An operation of two operands."""
        return a + b + self.operations[op]


class One(Dialect):
    """One state: doubles."""

    lanes, kind = 1, F64
    operations: ClassVar[dict[str, bytes]] = {
        "add": b"\xa0",
        "sub": b"\xa1",
        "mul": b"\xa2",
        "div": b"\xa3",
        "neg": b"\x9a",
        "sqrt": b"\x9f",
    }

    def constant(self, value: float) -> bytes:
        """In the code."""
        return f64(value)

    def positive(self, x: bytes, a: bytes, b: bytes) -> bytes:
        """By select: both sides are computed."""
        return a + b + x + f64(0.0) + b"\x64" + SELECT

    def load(self, row: int, other: int, offset: int) -> bytes:
        """One load."""
        return get(row) + load(offset)

    def store(self, row: int, other: int, offset: int, value: bytes, free: int) -> bytes:
        """One store."""
        return get(row) + value + store(offset)

    def within(self, x: bytes, limit: float, y: float) -> bytes:
        """By select."""
        return x + f64(y) + x + b"\x99" + f64(limit) + b"\x65" + SELECT

    def choose(self, low_bit_of: bytes, a: bytes, b: bytes) -> bytes:
        """By select."""
        return a + b + low_bit_of + b"\xbd\xa7\x41\x01\x71" + SELECT

    def signed_by(self, value: bytes, bits: bytes, both: bool) -> bytes:
        """As 64-bit integers: value ^ (bits >> 1 [^ bits]) << 63."""
        shifted = bits + b"\xbd\x42\x01\x88" + (bits + b"\xbd\x85" if both else b"")
        return value + b"\xbd" + shifted + b"\x42\x3f\x86\x85\xbf"

    def odd(self, value: bytes, rest: bytes) -> bytes:
        """As 64-bit integers: one less where the rest has the other sign, then the last bit set."""
        there = rest + b"\x99" + f64(0.0) + b"\x64\xad"
        other = value + b"\xbd" + rest + b"\xbd\x85\x42\x3f\x88"
        return value + b"\xbd" + other + there + b"\x83\x7d" + there + b"\x84\xbf"

    def all_nonzero(self, x: bytes) -> bytes:
        """One comparison."""
        return x + b"\x99" + f64(0.0) + b"\x64"

    def nonzero(self, x: bytes, a: bytes, b: bytes) -> bytes:
        """By select."""
        return a + b + x + b"\x99" + f64(0.0) + b"\x64" + SELECT


class Two(Dialect):
    """Two states: pairs of doubles (fixed-width SIMD). The second row is the first again where states are odd."""

    lanes, kind = 2, V128
    operations: ClassVar[dict[str, bytes]] = {
        "add": b"\xfd\xf0\x01",
        "sub": b"\xfd\xf1\x01",
        "mul": b"\xfd\xf2\x01",
        "div": b"\xfd\xf3\x01",
        "neg": b"\xfd\xed\x01",
        "sqrt": b"\xfd\xef\x01",
    }

    def constant(self, value: float) -> bytes:
        """From memory into both lanes: shorter than in the code, and faster."""
        return i32(0) + b"\xfd\x0a\x03" + unsigned(self.module.constant(value))

    def positive(self, x: bytes, a: bytes, b: bytes) -> bytes:
        """By the bits of a comparison."""
        return a + b + x + self.constant(0.0) + b"\xfd\x4a" + b"\xfd\x52"

    def load(self, row: int, other: int, offset: int) -> bytes:
        """Two loads: rows do not lie side by side."""
        at = unsigned(offset)
        return get(other) + get(row) + b"\xfd\x0a\x03" + at + b"\xfd\x57\x03" + at + b"\x01"

    def store(self, row: int, other: int, offset: int, value: bytes, free: int) -> bytes:
        """Two stores; of an odd last state twice the same."""
        at = unsigned(offset)
        lanes = [get(r) + get(free) + b"\xfd\x5b\x03" + at + bytes([k]) for k, r in enumerate((row, other))]
        return value + put(free) + b"".join(lanes)

    def within(self, x: bytes, limit: float, y: float) -> bytes:
        """By the bits of a comparison."""
        return x + self.constant(y) + x + b"\xfd\xec\x01" + self.constant(limit) + b"\xfd\x4b" + b"\xfd\x52"

    def choose(self, low_bit_of: bytes, a: bytes, b: bytes) -> bytes:
        """The lowest bit, spread over the lane, selects."""
        return a + b + low_bit_of + i32(63) + b"\xfd\xcb\x01" + i32(63) + b"\xfd\xcc\x01" + b"\xfd\x52"

    def signed_by(self, value: bytes, bits: bytes, both: bool) -> bytes:
        """As pairs of 64-bit integers: value ^ (bits >> 1 [^ bits]) << 63."""
        shifted = bits + i32(1) + b"\xfd\xcd\x01" + (bits + b"\xfd\x51" if both else b"")
        return value + shifted + i32(63) + b"\xfd\xcb\x01" + b"\xfd\x51"

    def odd(self, value: bytes, rest: bytes) -> bytes:
        """As pairs of 64-bit integers: one less where the rest has the other sign, then the last bit set."""
        there = rest + b"\xfd\xec\x01" + self.constant(0.0) + b"\xfd\x4a" + i32(63) + b"\xfd\xcd\x01"
        other = value + rest + b"\xfd\x51" + i32(63) + b"\xfd\xcd\x01"
        return value + other + there + b"\xfd\x4e" + b"\xfd\xd1\x01" + there + b"\xfd\x50"

    def all_nonzero(self, x: bytes) -> bytes:
        """One comparison, and both its results."""
        return x + b"\xfd\xec\x01" + self.constant(0.0) + b"\xfd\x4a" + b"\xfd\xc3\x01"

    def nonzero(self, x: bytes, a: bytes, b: bytes) -> bytes:
        """By the bits of a comparison."""
        return a + b + x + b"\xfd\xec\x01" + self.constant(0.0) + b"\xfd\x4a" + b"\xfd\x52"


DIALECTS: dict[int, type[Dialect]] = {1: One, 2: Two}
"""By the number of states at once."""
