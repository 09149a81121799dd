#!/bin/bash
set -e
printf 'Ada\n36\n' | node register.mjs
