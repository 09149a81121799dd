#!/bin/bash
set -e
ln -s configs/b.conf current.conf
