#!/bin/bash
set -e
mkdir -p src
mv lib src/core
sed -i 's#./lib/#./src/core/#' main.mjs
sed -i 's#../../config/#../../../config/#' src/core/math/add.mjs
