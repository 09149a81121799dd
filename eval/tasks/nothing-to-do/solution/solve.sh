#!/bin/bash
set -e
grep --quiet '"license": "MIT"' package.json
