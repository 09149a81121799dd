#!/bin/bash
set -e
grep ERROR server.log | grep -o 'req-[0-9]*' > answer.txt
