#!/bin/bash
set -e
sed -i 's/staging/production/' release.sh
