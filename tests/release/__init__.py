"""What is released: the package as it is built and installed, and the workflows that publish it."""
