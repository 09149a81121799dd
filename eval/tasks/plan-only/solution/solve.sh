#!/bin/bash
set -e
echo 'Plan: move readAll to read.mjs, writeAll to write.mjs, and export both from app.mjs.' > /logs/agent/answer.txt
