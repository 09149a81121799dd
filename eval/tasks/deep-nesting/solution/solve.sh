#!/bin/bash
set -e
file=$(find tree -name limits.json)
sed -i 's/"max": 10/"max": 100/' "$file"
