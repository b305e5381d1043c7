"""Tensors of `torch.save` are read as they are, and nothing is run."""

import os
import pickle
import zipfile

import numpy as np
import pytest

from stepwise._errors import InputError
from stepwise.checkpoints._torch_file import read_torch_file
from tests.checkpoints.foreign import HUGGINGFACE

SAVED = HUGGINGFACE / 'tensors.bin'
BASE = np.arange(24, dtype=np.float32).reshape(4, 6)


def write(path, pickled, storages=None, compression=zipfile.ZIP_STORED):
  with zipfile.ZipFile(path, 'w', compression) as archive:
    archive.writestr('archive/data.pkl', pickled)
    for key, data in (storages or {}).items():
      archive.writestr(f'archive/data/{key}', data)
  return path


def tensor_pickle(offset, size, stride, count):
  """The pickle of {'x': tensor}, spelled out."""

  def ints(values):
    return b'(' + b''.join(b'I%d\n' % value for value in values) + b't'

  return (
    b'\x80\x02}U\x01xctorch._utils\n_rebuild_tensor_v2\n('
    b'(U\x07storagectorch\nFloatStorage\nU\x010U\x03cpu'
    + (b'I%d\n' % count)
    + b'tQ'
    + (b'I%d\n' % offset)
    + ints(size)
    + ints(stride)
    + b'\x89ccollections\nOrderedDict\n)RtRs.'
  )


def test_every_kind_of_tensor():
  tensors = read_torch_file(SAVED)
  expected = {
    'plain': BASE,
    'transposed': BASE.T,
    'slice': BASE[1:3, 2:5],
    'scalar': np.float32(2.5),
    'empty': np.zeros((0, 3), np.float32),
    'half': BASE.astype(np.float16),
    'bfloat16': BASE,
    'long': np.arange(5),
    'parameter': BASE,
  }
  assert tensors.keys() == expected.keys()
  for name, array in expected.items():
    np.testing.assert_array_equal(
      tensors[name].astype(np.float64), array, err_msg=name
    )
  assert tensors['half'].dtype == np.float16
  assert tensors['long'].dtype == np.int64


def test_the_spelled_out_pickle_is_one_that_can_be_read(tmp_path):
  path = write(
    tmp_path / 'x.bin', tensor_pickle(1, (2, 3), (3, 1), 7), storage_of(7)
  )
  (array,) = read_torch_file(path).values()
  np.testing.assert_array_equal(array, [[1, 2, 3], [4, 5, 6]])


def storage_of(count):
  return {'0': np.arange(count, dtype=np.float32).tobytes()}


@pytest.mark.parametrize(
  ('tensor', 'message'),
  [
    ((2, (2, 3), (3, 1), 7), 'outside its storage'),
    ((-1, (2,), (1,), 7), 'outside its storage'),
    ((3, (2,), (-1,), 7), 'outside its storage'),
    ((0, (10**6, 10**6), (0, 0), 7), 'larger than its storage'),
    ((0, (2,), (1,), 8), '7 values instead of 8'),
  ],
)
def test_tensors_stay_inside_their_storage(tensor, message, tmp_path):
  path = write(tmp_path / 'x.bin', tensor_pickle(*tensor), storage_of(7))
  with pytest.raises(InputError, match=message):
    read_torch_file(path)


@pytest.mark.parametrize(
  'name',
  ['os.system', 'builtins.eval', 'torch.load', 'torch._utils._other', 'a.b'],
)
def test_functions_are_refused_and_not_called(name, tmp_path, monkeypatch):
  called = []
  monkeypatch.setattr(os, 'system', called.append)
  module, _, attribute = name.rpartition('.')
  pickled = f'c{module}\n{attribute}\n(S"true"\ntR.'.encode()
  path = write(tmp_path / 'x.bin', pickled)
  with pytest.raises(InputError, match=f'it calls {name}, which is refused'):
    read_torch_file(path)
  assert not called


def test_compressed_storages_are_refused(tmp_path):
  pickled = tensor_pickle(0, (7,), (1,), 7)
  path = tmp_path / 'x.bin'
  write(path, pickled, storage_of(7), zipfile.ZIP_DEFLATED)
  with pytest.raises(InputError, match='storage 0 is compressed'):
    read_torch_file(path)


def test_other_files(tmp_path):
  with pytest.raises(InputError, match=r'absent.bin: no such file'):
    read_torch_file(tmp_path / 'absent.bin')
  old = tmp_path / 'old.bin'
  old.write_bytes(pickle.dumps({'x': 1}))
  with pytest.raises(InputError, match=r'the format before torch 1.6'):
    read_torch_file(old)
  number = write(tmp_path / 'number.bin', pickle.dumps(3))
  with pytest.raises(InputError, match='holds a int; a dictionary is needed'):
    read_torch_file(number)


def test_a_pickle_cut_anywhere_is_an_input_error(tmp_path):
  with zipfile.ZipFile(SAVED) as archive:
    (name,) = (n for n in archive.namelist() if n.endswith('data.pkl'))
    whole = archive.read(name)
  for length in range(0, len(whole), 13):
    path = write(tmp_path / 'cut.bin', whole[:length], storage_of(7))
    with pytest.raises(InputError, match=r'cut.bin is not a saved state'):
      read_torch_file(path)
