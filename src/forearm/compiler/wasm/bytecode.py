"""The binary format of WebAssembly, as far as kernels need it: numbers, sections, and a module of functions.

WebAssembly Core Specification 2.0, chapter 5. A function's code is plain bytes, put together by whoever writes it.
"""

import struct
from dataclasses import dataclass, field
from functools import cache

F64, V128, I32 = b"\x7c", b"\x7b", b"\x7f"
"""Types of values: a double, two of them, an address or a count."""
PAGE = 65536
"""Bytes of a page of memory."""

BLOCK, LOOP, END, DROP, SELECT = b"\x02\x40", b"\x03\x40", b"\x0b", b"\x1a", b"\x1b"
IF, RETURN = b"\x04\x40", b"\x0f"
I32_EQZ, I32_GT_S, I32_ADD, I32_SUB, I32_MUL, I32_SHL = b"\x45", b"\x4a", b"\x6a", b"\x6b", b"\x6c", b"\x74"
I32_GE_S, I32_REM_U = b"\x4e", b"\x70"
F64_CONVERT_I32_S = b"\xb7"


def unsigned(number: int) -> bytes:
    """A count in LEB128."""
    out = bytearray()
    while True:
        low, number = number & 0x7F, number >> 7
        out.append(low | (0x80 if number else 0))
        if not number:
            return bytes(out)


def signed(number: int) -> bytes:
    """A signed number in LEB128."""
    out = bytearray()
    while True:
        low, number = number & 0x7F, number >> 7
        last = number == (-1 if low & 0x40 else 0)
        out.append(low | (0 if last else 0x80))
        if last:
            return bytes(out)


@cache
def get(local: int) -> bytes:
    """The value of a local variable."""
    return b"\x20" + unsigned(local)


@cache
def put(local: int) -> bytes:
    """Into a local variable."""
    return b"\x21" + unsigned(local)


@cache
def tee(local: int) -> bytes:
    """Into a local variable, and kept on the stack."""
    return b"\x22" + unsigned(local)


def call(function: int) -> bytes:
    """Call a function of the module."""
    return b"\x10" + unsigned(function)


def branch_if(depth: int) -> bytes:
    """Leave (or repeat) the block so many levels up if the number on the stack is not zero."""
    return b"\x0d" + unsigned(depth)


def i32(number: int) -> bytes:
    """A constant address or count."""
    return b"\x41" + signed(number)


def f64(number: float) -> bytes:
    """A constant double, to the bit."""
    return b"\x44" + struct.pack("<d", number)


def load(offset: int) -> bytes:
    """The double at the address on the stack, plus an offset."""
    return b"\x2b\x03" + unsigned(offset)


def store(offset: int) -> bytes:
    """A double to an address, plus an offset."""
    return b"\x39\x03" + unsigned(offset)


def _listed(items: list[bytes]) -> bytes:
    return unsigned(len(items)) + b"".join(items)


def _section(number: int, content: bytes) -> bytes:
    return bytes([number]) + unsigned(len(content)) + content


def _named(name: str) -> bytes:
    encoded = name.encode("ascii")
    return unsigned(len(encoded)) + encoded


@dataclass
class Module:
    """A module that grows: functions, constants in memory, scratch. Its exports: `memory`, `heap`, the functions."""

    types: list[bytes] = field(default_factory=list)
    """Kinds of functions."""
    kinds: list[int] = field(default_factory=list)
    """Which kind each function is of."""
    codes: list[bytes] = field(default_factory=list)
    """Their code."""
    exports: dict[str, int] = field(default_factory=dict)
    """Functions by the name they are called by from outside."""
    pool: dict[bytes, int] = field(default_factory=dict)
    """Constants in memory and where they are."""
    scratch: int = 0
    """Bytes used by loops, after the constants."""

    def add(
        self, params: list[bytes], results: list[bytes], variables: list[bytes], body: bytes, name: str = ""
    ) -> int:
        """A function; gives its number. With a name it is exported."""
        kind = b"\x60" + _listed(params) + _listed(results)
        if kind not in self.types:
            self.types.append(kind)
        self.kinds.append(self.types.index(kind))
        groups: list[tuple[int, bytes]] = []
        for variable in variables:
            if groups and groups[-1][1] == variable:
                groups[-1] = (groups[-1][0] + 1, variable)
            else:
                groups.append((1, variable))
        code = _listed([unsigned(count) + kind for count, kind in groups]) + body + END
        self.codes.append(unsigned(len(code)) + code)
        number = len(self.codes) - 1
        if name:
            self.exports[name] = number
        return number

    def constant(self, number: float) -> int:
        """The address of a constant."""
        return self.pool.setdefault(struct.pack("<d", number), 8 * len(self.pool))

    def reserve(self, size: int) -> int:
        """The address of scratch memory. (Scalar code has no constants in memory, so that addresses are known.)"""
        first = self.scratch
        self.scratch += size
        return first

    @property
    def heap(self) -> int:
        """The first byte that is free for arrays."""
        return -(-(8 * len(self.pool) + self.scratch) // 16) * 16

    def binary(self) -> bytes:
        """The module as a file."""
        exports = [_named("memory") + b"\x02\x00", _named("heap") + b"\x03\x00"]
        exports += [_named(name) + b"\x00" + unsigned(number) for name, number in self.exports.items()]
        pages = max(1, -(-self.heap // PAGE))
        parts = [
            _section(1, _listed(self.types)),
            _section(3, _listed([unsigned(kind) for kind in self.kinds])),
            _section(5, _listed([b"\x00" + unsigned(pages)])),
            _section(6, _listed([I32 + b"\x00" + i32(self.heap) + END])),
            _section(7, _listed(exports)),
            _section(10, _listed(self.codes)),
        ]
        if self.pool:
            data = b"".join(self.pool)
            parts.append(_section(11, _listed([b"\x00" + i32(0) + END + unsigned(len(data)) + data])))
        return b"\0asm\x01\0\0\0" + b"".join(parts)
