#!/bin/bash
set -e
sed -i -e 's/"export"/"export",\n\t\t"search"/' -e 's/"retries": 3/"retries": 5/' config.json
