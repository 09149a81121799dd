#!/bin/bash
set -e
sed -i -e 's/^version = "1.4.2"/version = "1.5.0"/' -e 's/Sample 1.4.2/Sample 1.5.0/' project.toml
