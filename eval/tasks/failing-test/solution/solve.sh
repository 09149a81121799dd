#!/bin/bash
set -e
sed -i 's/.sort()/.sort((a, b) => a - b)/' median.mjs
node --test
