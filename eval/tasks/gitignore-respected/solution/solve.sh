#!/bin/bash
set -e
git ls-files | xargs sed -i 's#http://#https://#g'
