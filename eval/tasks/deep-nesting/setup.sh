#!/bin/bash
set -e
path=tree
for level in $(seq 1 30); do path=$path/level-$level; done
mkdir -p $path
printf '{ "min": 1, "max": 10 }\n' > $path/limits.json
