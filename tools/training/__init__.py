"""What the weights of the product are learned with: a module a model."""
