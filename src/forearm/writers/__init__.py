"""An Arm becomes a file: `toml` carries everything, `urdf` says what it cannot carry."""
