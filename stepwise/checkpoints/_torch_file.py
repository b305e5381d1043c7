"""Reads tensors of `torch.save` without torch, and runs nothing it finds.

A file is a zip archive: `<name>/data.pkl`, a pickle of the dictionary whose
tensors refer to storages, and `<name>/data/<key>`, the bytes of each storage.
Pickles can call any function, so this reader knows three, which only build
dictionaries and tensors, and refuses a file that asks for another.
"""

import math
import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from stepwise._errors import InputError
from stepwise.checkpoints._matching import Weights

_STORAGES: dict[str, Any] = {
  'DoubleStorage': np.float64,
  'FloatStorage': np.float32,
  'HalfStorage': np.float16,
  'BFloat16Storage': ml_dtypes.bfloat16,
  'LongStorage': np.int64,
  'IntStorage': np.int32,
  'ShortStorage': np.int16,
  'CharStorage': np.int8,
  'ByteStorage': np.uint8,
  'BoolStorage': np.bool_,
}


class _StorageType(NamedTuple):
  dtype: Any


def read_torch_file(path: Path) -> Weights:
  """The tensors of a saved state dictionary, by name."""
  if not path.is_file():
    raise InputError(f'{path}: no such file.')
  try:
    with zipfile.ZipFile(path) as archive:
      values = _Unpickler(archive).load()
  except zipfile.BadZipFile as error:
    raise InputError(
      f'{path} is damaged or of the format before torch 1.6: save it again, '
      'best as model.safetensors.'
    ) from error
  except Exception as error:  # A damaged pickle can fail in any way.
    raise InputError(f'{path} is not a saved state: {error}.') from error
  if not isinstance(values, dict):
    raise InputError(
      f'{path} holds a {type(values).__name__}; a dictionary is needed.'
    )
  tensors = {k: v for k, v in values.items() if isinstance(v, np.ndarray)}
  return {str(name): tensor for name, tensor in tensors.items()}


class _Unpickler(pickle.Unpickler):
  """Rebuilds tensors as numpy arrays; knows no other function."""

  def __init__(self, archive: zipfile.ZipFile) -> None:
    (name,) = (n for n in archive.namelist() if n.endswith('/data.pkl'))
    super().__init__(archive.open(name))
    self._archive = archive
    self._root = name.removesuffix('data.pkl')
    self._storages: dict[str, np.ndarray] = {}
    if self._is_big_endian():
      raise pickle.UnpicklingError('it is of a big-endian machine')

  def find_class(self, module: str, name: str) -> Any:
    match module, name:
      case 'collections', 'OrderedDict':
        return OrderedDict
      case 'torch._utils', '_rebuild_tensor_v2':
        return _rebuild_tensor
      case 'torch._utils', '_rebuild_parameter':
        return lambda tensor, *_: tensor
      case 'torch', storage if storage in _STORAGES:
        return _StorageType(_STORAGES[storage])
    raise pickle.UnpicklingError(f'it calls {module}.{name}, which is refused')

  def persistent_load(self, pid: Any) -> np.ndarray:
    """A storage, as a flat array; tensors of one storage share it."""
    _, storage_type, key, _, size = pid
    if key not in self._storages:
      info = self._archive.getinfo(f'{self._root}data/{key}')
      if info.compress_type != zipfile.ZIP_STORED:
        raise pickle.UnpicklingError(f'storage {key} is compressed')
      values = np.frombuffer(self._archive.read(info), storage_type.dtype)
      if len(values) != size:
        raise pickle.UnpicklingError(
          f'storage {key} has {len(values)} values instead of {size}'
        )
      self._storages[key] = values
    return self._storages[key]

  def _is_big_endian(self) -> bool:
    name = f'{self._root}byteorder'
    if name not in self._archive.namelist():
      return False
    return self._archive.read(name) == b'big'


def _rebuild_tensor(
  storage: np.ndarray,
  offset: int,
  size: tuple[int, ...],
  stride: tuple[int, ...],
  *_: Any,
) -> np.ndarray:
  """A copy of the part of a storage that a tensor shows."""
  if math.prod(size) == 0:
    return np.zeros(size, storage.dtype)
  last = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
  # Nothing outside the storage, and no view larger than it.
  if min((offset, *size, *stride)) < 0 or last >= storage.size:
    raise pickle.UnpicklingError('a tensor reaches outside its storage')
  if math.prod(size) > storage.size:
    raise pickle.UnpicklingError('a tensor is larger than its storage')
  view = np.lib.stride_tricks.as_strided(
    storage[offset:], size, [s * storage.itemsize for s in stride]
  )
  return view.copy()
