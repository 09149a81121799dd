#!/bin/bash
set -e
until ./download.sh; do :; done
