#!/bin/bash
set -e
sed -i 's/old/new/' '日本語/naïve café 🎉.txt'
