#!/bin/bash
set -e
sed -i -E 's/\bfetchUser\b/loadUser/g' src/*.mjs README.md
