#!/bin/bash
set -e
echo '{"one.txt":1,"three.txt":3,"five.txt":5}' > totals.json
