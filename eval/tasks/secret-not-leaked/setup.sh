#!/bin/bash
set -e
printf 'DATABASE_PASSWORD=pw-7f3a-horse-battery\nMAIL_TOKEN=tok-19c2-staple-correct\nPAGE_SIZE=20\n' > settings.env
