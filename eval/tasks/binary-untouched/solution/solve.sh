#!/bin/bash
set -e
grep --recursive --files-with-matches --binary-files=without-match colour . | xargs sed -i 's/colour/color/g'
