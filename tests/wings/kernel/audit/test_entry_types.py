"""The type of the receipt of an audit entry is what the schema of such documents says."""

from specledger.evidence.receipts.kernel import AuditEntry
from specledger.expr import IntType, ListType, MapType, RecordType
from specledger.expr.typed_dicts import record_type
from specledger.wings.kernel.documents.schemas import document_type


def shape(type_):
    """A type without the ranges of its integers and the sizes of its lists."""
    if isinstance(type_, RecordType):
        return {name: (shape(field), name in type_.optional) for name, field in type_.fields.items()}
    if isinstance(type_, ListType | MapType):
        return [shape(type_.item if isinstance(type_, ListType) else type_.value)]
    return "int" if isinstance(type_, IntType) else str(type_)


def test_an_audit_entry_is_what_its_document_schema_says():
    assert shape(record_type(AuditEntry)) == shape(document_type("audit_entry"))
