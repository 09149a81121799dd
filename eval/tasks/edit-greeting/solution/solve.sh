#!/bin/bash
set -e
sed -i 's/Helo/Hello/' greet.mjs
