#!/bin/bash
set -e
printf '{\n\t"zone": "eu",\n\t"features": [\n\t\t"login",\n\t\t"export"\n\t],\n\t"limits": {\n\t\t"retries": 3,\n\t\t"timeout": 30\n\t},\n\t"big": 12345678901234567890,\n\t"title": "Ünï – “quoted”"\n}\n' > config.json
