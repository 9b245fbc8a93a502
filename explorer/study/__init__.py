"""How accurate classifiers stay when their images are contaminated: softmax, symmetric and RPC models."""
