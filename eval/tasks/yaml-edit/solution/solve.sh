#!/bin/bash
set -e
sed -i 's/^    command:/    replicas: 4\n    command:/' deploy.yaml
