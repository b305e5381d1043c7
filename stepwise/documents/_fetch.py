"""Documents from the web, where an address is given on purpose."""

import urllib.error
import urllib.request
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from stepwise._errors import InputError
from stepwise._files import read_limited
from stepwise.documents._document import Document
from stepwise.documents._formats import FORMATS, Format, sniff
from stepwise.documents._readers import ReadOptions, make_document

_SCHEMES = ('http', 'https')
_SECONDS = 30
_TYPES = {
  'text/html': '.html',
  'application/xhtml+xml': '.html',
  'application/pdf': '.pdf',
  'text/plain': '.txt',
  'text/markdown': '.md',
  'message/rfc822': '.eml',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': (
    '.docx'
  ),
}


def is_address(source: str) -> bool:
  """Whether it is of the web."""
  return source.startswith(('http://', 'https://'))


def fetch_document(
  address: str, options: ReadOptions = ReadOptions()
) -> Document:
  """The document at an address of the web.

  Redirections are followed only to other addresses of the web, and no more is
  read than a document may have.
  """
  if urlsplit(address).scheme not in _SCHEMES:
    raise InputError(f'{address} is not an address of http or https.')
  request = urllib.request.Request(address, headers={'User-Agent': 'stepwise'})
  try:
    opener = urllib.request.build_opener(_WebOnly())
    with opener.open(request, timeout=_SECONDS) as answer:
      kind = answer.headers.get_content_type()
      data = read_limited(answer, address)
  except InputError:
    raise
  except urllib.error.HTTPError as error:
    error.close()
    # The library refuses files by itself, and this is how it tells.
    if 300 <= error.code < 400 and (target := error.headers.get('Location')):
      raise _refusal(address, target) from None
    raise InputError(f'{address} answers {error.code}.') from None
  except (OSError, ValueError) as error:
    reason = getattr(error, 'reason', error)
    raise InputError(f'{address} cannot be fetched: {reason}.') from None
  form = _format(address, kind, data)
  try:
    return make_document({'id': address, **form.parse(data)}, None, options)
  except InputError as error:
    raise InputError(f'{address}: {error}') from None


class _WebOnly(urllib.request.HTTPRedirectHandler):
  def redirect_request(
    self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
  ) -> Any:
    if urlsplit(newurl).scheme not in _SCHEMES:
      fp.close()
      raise _refusal(req.full_url, newurl)
    return super().redirect_request(req, fp, code, msg, headers, newurl)


def _refusal(address: str, target: str) -> InputError:
  return InputError(
    f'{address} redirects to {target}, which is not followed: only addresses '
    'of http and https are.'
  )


def _format(address: str, kind: str, data: bytes) -> Format:
  ending = PurePosixPath(urlsplit(address).path).suffix.lower()
  suffix = sniff(data[:4096]) or _TYPES.get(kind) or ending
  form = FORMATS.get(suffix)
  if form is None or not form.whole_file:
    raise InputError(f'{address} is of the type {kind}, which is not read.')
  return form
