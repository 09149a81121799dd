#!/bin/bash
set -e
printf '\x00\xff\xfe\x00\x01colour\x00\xc8' > image.bin
