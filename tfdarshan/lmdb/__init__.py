"""LMDB databases read by explicit, merged, parallel reads in place of page faults."""

from tfdarshan.lmdb.batch import Batch
from tfdarshan.lmdb.dataset import dataset
from tfdarshan.lmdb.index import Index
from tfdarshan.lmdb.remedy import REMEDIES

__all__ = ["REMEDIES", "Batch", "Index", "dataset"]
