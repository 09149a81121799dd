#!/bin/bash
set -e
sed -i 's/timeout=30/timeout=60/' settings.ini
