"""E-mail to blocks: what was written, what was quoted, who signed."""

import re
from email import message_from_bytes, policy
from email.errors import MessageError
from email.message import EmailMessage

from stepwise._errors import InputError
from stepwise.documents._html import html_blocks
from stepwise.documents._structure import Block, text_regions

_QUOTE_MARKS = re.compile(r'^[ \t]*(?:>[ \t]?)+', re.MULTILINE)


def mail_blocks(data: bytes) -> list[Block]:
  """The subject as a heading, then the body; attachments are not read."""
  try:
    message = message_from_bytes(data, policy=policy.default)
    body = message.get_body(('plain', 'html'))
    if body is None:
      raise InputError('the e-mail has no text.')
    content = body.get_content()
  except (MessageError, LookupError, AttributeError) as error:
    raise InputError(f'not a readable e-mail: {error}.') from error
  if body.get_content_type() == 'text/html':
    blocks = html_blocks(content.encode())
  else:
    blocks = _body_blocks(content.replace('\r\n', '\n'))
  return [*_head(message), *blocks]


def _head(message: EmailMessage) -> list[Block]:
  subject = str(message['subject'] or '').strip()
  sender = str(message['from'] or '').strip()
  head = [Block(subject, 'heading')] if subject else []
  return [*head, Block(f'From: {sender}', 'byline')] if sender else head


def _body_blocks(text: str) -> list[Block]:
  blocks: list[Block] = []
  for start, end, kind in text_regions(text):
    part = text[start:end]
    if kind == 'quotation':
      part = _QUOTE_MARKS.sub('', part)
    blocks += [
      Block(piece.strip(), kind)
      for piece in ([part] if kind else re.split(r'\n\s*\n', part))
      if piece.strip()
    ]
  return blocks
