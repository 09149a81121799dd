#!/bin/bash
set -e
mkdir 日本語
printf 'Ein old Wort – 新しい\n' > '日本語/naïve café 🎉.txt'
