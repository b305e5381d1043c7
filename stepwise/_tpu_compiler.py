"""How to use the TPU compiler on a machine without a TPU."""

# Set before jax is imported. Otherwise libtpu looks for a TPU, asks a metadata
# server about it and waits; and a second process may not load it.
COMPILER_ENVIRONMENT = {
  'JAX_PLATFORMS': 'cpu',
  'TPU_SKIP_MDS_QUERY': '1',
  'TPU_ACCELERATOR_TYPE': 'v5litepod-8',
  'TPU_WORKER_HOSTNAMES': 'localhost',
  'ALLOW_MULTIPLE_LIBTPU_LOAD': '1',
}
