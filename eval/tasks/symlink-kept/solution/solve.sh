#!/bin/bash
set -e
sed -i 's/slow/fast/' configs/b.conf
