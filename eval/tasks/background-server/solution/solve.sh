#!/bin/bash
set -e
node server.mjs > port.txt &
while [ ! -s port.txt ]; do sleep 0.05; done
node -e 'fetch(`http://127.0.0.1:${process.argv[1]}/version`).then((answer) => answer.text()).then(console.log)' "$(cat port.txt)" > version.txt
rm port.txt
kill %1
wait
