#!/bin/bash
set -e
sed -i 's/RETRY_LIMIT=3/RETRY_LIMIT=7/' bundle.js
