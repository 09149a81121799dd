#!/bin/bash
set -e
git init --quiet --initial-branch=main
echo build/ > .gitignore
git add .
git -c user.name=Eval -c user.email=eval@example.com commit --quiet -m "site"
mkdir build
cp src/page.html build/
