"""Files of every kind that people have, with the same story in them."""

import io
import json
import zipfile
from collections.abc import Sequence

TITLE = 'The harbour of Marne opens again'
FIRST = 'The old harbour of Marne opened again on Monday after three years.'
SECOND = 'The work cost 12 million euros, the town said.'
SENTENCES = (FIRST, SECOND)

PLAIN = f'{TITLE}\n\n{FIRST} {SECOND}\n'
MARKDOWN = (
  f'---\ntitle: x\n---\n# {TITLE}\n\n'
  f'{FIRST.replace("harbour", "**harbour**")}\n'
  f'{SECOND.replace("town", "[town](http://town.example)")}\n\n'
  '```python\nopen(harbour)\n```\n\n'
  '| Year | Ships |\n|---|---|\n| 2020 | 12 |\n'
)
PAGE = f"""<!doctype html><html><head><title>Marne</title></head><body>
<nav><a href="/">Home</a> <a href="/news">News of the day</a></nav>
<article><h1>{TITLE}</h1><p>{FIRST} {SECOND}</p></article>
<footer>All rights reserved. We use cookies. Read our terms.</footer>
</body></html>"""
MAIL = f"""From: Anna Reed <anna@marne.example>
To: all@marne.example
Subject: {TITLE}
Content-Type: text/plain; charset=utf-8

Dear all,

{FIRST} {SECOND}

On Mon, 3 May 2024, Tom Hale wrote:
> Will the harbour ever open again?
> I doubt it very much.

Best,
Anna
-- 
Anna Reed, harbour office
"""
STORY = f'{FIRST}\n\n{SECOND}\n\n@highlight\n\nHarbour is open\n'


def docx(
  paragraphs: Sequence[tuple[str, str]], rows: Sequence[str] = ()
) -> bytes:
  """A Word file of paragraphs, each with the name of its style."""
  name = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main'
  body = ''.join(
    f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr>'
    f'<w:r><w:t>{text}</w:t></w:r></w:p>'
    for style, text in paragraphs
  )
  cells = ''.join(
    f'<w:tc><w:p><w:r><w:t>{cell}</w:t></w:r></w:p></w:tc>' for cell in rows
  )
  table = f'<w:tbl><w:tr>{cells}</w:tr></w:tbl>' if rows else ''
  stream = io.BytesIO()
  with zipfile.ZipFile(stream, 'w', zipfile.ZIP_DEFLATED) as archive:
    archive.writestr(
      'word/document.xml',
      f'<w:document xmlns:w="{name}"><w:body>{body}{table}</w:body>'
      '</w:document>',
    )
  return stream.getvalue()


def pdf(pages: Sequence[Sequence[str]]) -> bytes:
  """A PDF file that shows lines of text, as small as one can be."""
  objects = [b'<</Type/Catalog/Pages 2 0 R>>']
  kids = ' '.join(f'{4 + 2 * index} 0 R' for index in range(len(pages)))
  objects.append(f'<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>'.encode())
  objects.append(b'<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>')
  for index, lines in enumerate(pages):
    objects.append(
      b'<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]'
      b'/Resources<</Font<</F 3 0 R>>>>'
      + f'/Contents {5 + 2 * index} 0 R>>'.encode()
    )
    shown = ''.join(f'({line}) Tj T* ' for line in lines)
    stream = f'BT /F 11 Tf 14 TL 72 720 Td {shown}ET'.encode('latin-1')
    objects.append(
      f'<</Length {len(stream)}>>stream\n'.encode() + stream + b'\nendstream'
    )
  data, offsets = b'%PDF-1.4\n', []
  for number, body in enumerate(objects, start=1):
    offsets.append(len(data))
    data += f'{number} 0 obj'.encode() + body + b'endobj\n'
  start = len(data)
  data += f'xref\n0 {len(objects) + 1}\n0000000000 65535 f \n'.encode()
  data += b''.join(f'{offset:010} 00000 n \n'.encode() for offset in offsets)
  return (
    data
    + (
      f'trailer<</Size {len(objects) + 1}/Root 1 0 R>>\n'
      f'startxref\n{start}\n%%EOF'
    ).encode()
  )


def story_files() -> dict[str, bytes]:
  """The story as a file of every kind, by its name."""
  row = {'id': 'marne', 'text': f'{FIRST} {SECOND}'}
  table = f'"{FIRST} {SECOND}",marne\n'
  return {
    'a.txt': PLAIN.encode(),
    'windows.txt': PLAIN.encode('utf-16'),
    'noname': PLAIN.encode(),
    'a.md': MARKDOWN.encode(),
    'a.html': PAGE.encode(),
    'page.txt': PAGE.encode(),
    'a.pdf': pdf([[TITLE, '', FIRST, SECOND]]),
    'a.docx': docx([('Heading1', TITLE), ('Normal', f'{FIRST} {SECOND}')]),
    'a.eml': MAIL.encode(),
    'a.story': STORY.encode(),
    'a.json': json.dumps(row, indent=2).encode(),
    'list.json': json.dumps([row]).encode(),
    'a.jsonl': json.dumps({'content': row['text']}).encode(),
    'a.ndjson': json.dumps({'body': SENTENCES}).encode(),
    'a.csv': f'Text,id\n{table}'.encode(),
    'semicolons.csv': f'id;text\nmarne;"{FIRST} {SECOND}"\n'.encode(),
    'a.tsv': f'text\tid\n{table}'.replace('",', '"\t').encode(),
  }
