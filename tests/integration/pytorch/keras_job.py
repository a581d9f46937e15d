"""A Keras training from a DataLoader, with a validation set: prints how many batches each epoch has."""

import json
import sys
import time

import keras
import numpy as np
from torch.utils.data import DataLoader, Dataset

import tfdarshan

SAMPLES, BATCH, EPOCHS, READ_S = 32, 4, 2, 0.002


class Slow(Dataset):
    def __len__(self):
        return SAMPLES

    def __getitem__(self, number):
        time.sleep(READ_S)
        return np.full(4, number, np.float32), np.float32(1)


model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
training, validation = DataLoader(Slow(), batch_size=BATCH, shuffle=True), DataLoader(Slow(), batch_size=8)
with tfdarshan.profile(sys.argv[1]) as session:
    model.fit(training, validation_data=validation, epochs=EPOCHS, verbose=0)
print(json.dumps({"steps": SAMPLES // BATCH * EPOCHS, "session": str(session.path)}))
