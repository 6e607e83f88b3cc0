"""Names from outside as words of Python, C, C++, JavaScript and CasADi: the only place that knows what these take.

One rule serves all languages, so that a quantity has one name wherever it is written: letters, digits and `_`, no
word that one of them reserves or defines, and none that our own text uses beside it.
"""

import keyword
import re
from collections.abc import Iterable, Sequence

_C = """auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while alignas
alignof asm bool complex constexpr false fortran imaginary nullptr static_assert thread_local true typeof
typeof_unqual"""
_CPP = """and and_eq bitand bitor catch char8_t char16_t char32_t class co_await co_return co_yield compl concept
const_cast consteval constinit decltype delete dynamic_cast explicit export friend mutable namespace new noexcept not
not_eq operator or or_eq private protected public reinterpret_cast requires static_cast template this throw try typeid
typename using virtual wchar_t xor xor_eq"""
_JAVASCRIPT = """arguments await constructor debugger eval function implements import in instanceof interface let
package prototype super then var with yield undefined"""
_CASADI = "hess jac null"
_CALLED = "sin cos sqrt sinf cosf sqrtf printf main"
"""What emitted C calls or defines: a parameter of that name would stand before it."""
_MACROS = """BUFSIZ DOMAIN EOF FILENAME_MAX FOPEN_MAX INFINITY L_ctermid L_cuserid L_tmpnam MATH_ERREXCEPT MATH_ERRNO
MAXFLOAT NAN NULL OVERFLOW PLOSS P_tmpdir RAND_MAX SING TLOSS TMP_MAX UNDERFLOW X_TLOSS errno i386 linux
math_errhandling stderr stdin stdout unix"""
"""What a C compiler, <math.h> or <stdio.h> puts something else in the place of."""
_OURS = "np kind lead"
RESERVED = frozenset(" ".join((_C, _CPP, _JAVASCRIPT, _CASADI, _CALLED, _MACROS, _OURS)).split())
"""Words that are taken in one of the languages, beside Python's own."""
_PATTERNS = re.compile(r"v\d+|M_\w+|FP_\w+|HUGE_VAL\w*|SEEK_\w+|SNAN\w*|RENAME_\w+")
"""Our own names of values, and families of macros."""


def identifier(text: str) -> str:
    """A name that every language accepts."""
    name = _letters(text)
    return f"_{name}" if name in RESERVED or _PATTERNS.fullmatch(name) else name


def _letters(text: str) -> str:
    """Letters of ASCII, digits and `_` (no two in a row, which C++ keeps), as no number and no keyword of Python."""
    name = re.sub(r"[\W_]+", "_", text, flags=re.ASCII).strip("_") or "graph"
    return f"_{name}" if name[0].isdigit() or keyword.iskeyword(name) else name


def words(names: Iterable[str], taken: Sequence[str] = ()) -> list[str]:
    """Identifiers of names, no two alike and none that is taken: where they would be, the later ones get a number."""
    found: list[str] = []
    for name in names:
        word, count = identifier(name), 1
        while word in found or word in taken:
            count += 1
            word = f"{identifier(name)}_{count}"
        found.append(word)
    return found


HEADERS = frozenset(
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic "
    "stdbool stddef stdint stdio stdlib stdnoreturn string strings tgmath threads time uchar wchar wctype unistd fcntl "
    "pthread sched features newlib availability corecrt crtdefs vadefs vcruntime sal con prn aux nul".split()
)
"""Names of C's own headers and of what they include, which a file `math.h` would stand before where it is looked for,
and of devices."""

CHECK = "check"
"""What the functions of a self-test begin with."""


def file_stem(text: str) -> str:
    """A name for files of code, and what stands before a `_` in the names that are in them."""
    name = _letters(text)
    return f"{name}_arm" if name.lower() in HEADERS or name == CHECK else name
