"""XML from anywhere, read safely: no DOCTYPE, no entities, no other file, UTF-8."""

import re
from typing import Any, NoReturn

from lxml import etree

from forearm.faults import ReadFault
from forearm.outside.escapes import one_line
from forearm.readers.file_content import shortened

ENCODINGS = ("UTF-8", "US-ASCII", "ASCII", "ISO-8859-1")
MOST_TAGS = 200_000
"""Tags and comments of a file; each costs some microseconds, whatever it says."""
MOST_EQUALS = 1_000_000
"""Signs of equality, and so attributes, of a file."""
MOST_ATTRIBUTES = 60
"""Of an element; finding one looks through all of them."""
_MARK = re.compile(rb"<!--|<\?|<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
MOST_DECLARED = 1000
"""Bytes of an XML declaration."""
_DECLARED = re.compile(rb"\s*(?:\xef\xbb\xbf)?<\?xml\s")
_ENCODING = re.compile(rb"""(?:(?!\?>).)*?\bencoding\s*=\s*["']([^"'>]*)""", re.DOTALL)
LONGEST_NAMESPACE = 300
"""Letters of a namespace, which is written once and becomes a part of each name in it."""
_FAR = re.compile(
    rb"""["'<]([^"'<=]*+)=(?=\s*+(?:"[^"]{%d}|'[^']{%d}))""" % (LONGEST_NAMESPACE + 1, LONGEST_NAMESPACE + 1)
)
"""The name of an attribute with a long value, and what stands before it from the next mark on."""
_CROWDED: Any = etree.XPath(f"(//*[count(@*) > {MOST_ATTRIBUTES}])[1]")


def parse_xml(content: bytes, file: str) -> Any:
    """The root element; every fault of the text is a ReadFault with its line."""
    if not content.strip():
        raise ReadFault(f"{file}: the file is empty; give a file with a robot in it.")
    if b"\0" in content:
        raise ReadFault(f"{file}: the file has zero bytes (UTF-16, or not text at all); save it as UTF-8.")
    _refuse_declared(content[:MOST_DECLARED], file)
    for sign, most, what in ((b"<", MOST_TAGS, "tags"), (b"=", MOST_EQUALS, "attributes")):
        if (there := content.count(sign)) > most:
            raise ReadFault(
                f"{file}: the file has {there} {what}; up to {most} are read. Take out what is no robot."
            )
    _refuse_long_namespaces(content, file)
    line = _declaration(content)
    if line:
        raise ReadFault(
            f"{file}:{line}: the file has a DOCTYPE or ENTITY; robots need none, and they can read other "
            "files or "
            "grow without bound. Take them out."
        )
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        recover=False,
    )
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        raise ReadFault(
            f"{file}:{error.lineno or 1}: not well-formed XML: {shortened(one_line(error.msg))}. Repair it there."
        ) from None
    for element in _CROWDED(root):
        raise ReadFault(
            f"{file}:{element.sourceline}: an element has more than {MOST_ATTRIBUTES} attributes; no element of a "
            "robot does. Take them out."
        )
    encoding = root.getroottree().docinfo.encoding or "UTF-8"
    if root.getroottree().docinfo.internalDTD is not None or encoding.upper() not in ENCODINGS:
        _refuse_encoding(file, encoding)
    return root


def _refuse_long_namespaces(content: bytes, file: str) -> None:
    """Refuse a namespace of any length: whoever asks for the name of an element in it gets all of it anew."""
    for named in _FAR.finditer(content):
        if b"xmlns" in named[1]:
            line = content.count(b"\n", 0, named.end()) + 1
            raise ReadFault(
                f"{file}:{line}: a namespace (xmlns) of more than {LONGEST_NAMESPACE} letters; shorten it, or take it "
                "out."
            )


def _refuse_declared(begin: bytes, file: str) -> None:
    """Refuse a declaration of an encoding in which signs are not what they are, or one that may hide it."""
    declared = _DECLARED.match(begin)
    if declared is None:
        return
    if b"?>" not in begin:
        raise ReadFault(
            f"{file}:1: the XML declaration does not end within {MOST_DECLARED} letters; shorten it."
        )
    told = _ENCODING.match(begin, declared.end())
    if told and told[1].decode("ascii", "replace").upper() not in ENCODINGS:
        _refuse_encoding(file, one_line(told[1].decode("ascii", "replace"))[:40])


def _refuse_encoding(file: str, encoding: str) -> NoReturn:
    raise ReadFault(f"{file}:1: encoding {encoding} or a DTD; save the file as plain UTF-8 without DOCTYPE.")


def _declaration(content: bytes) -> int:
    """Line of the first <!DOCTYPE or <!ENTITY outside comments and instructions; 0 if there is none."""
    at = 0
    while found := _MARK.search(content, at):
        end = {b"<!--": b"-->", b"<?": b"?>"}.get(found[0])
        if end is None:
            return content.count(b"\n", 0, found.start()) + 1
        at = content.find(end, found.end()) + len(end)
        if at < len(end):
            return 0  # it does not end, and the parser says so
    return 0
