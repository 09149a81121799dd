#!/bin/bash
set -e
sed -i 's/Math.floor/Math.ceil/' pages.mjs
