#!/bin/bash
set -e
sed -i 's/^Zoé;Lyon/Zoé;Paris/' names.csv
