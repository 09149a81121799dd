#!/bin/bash
set -e
cat > download.sh <<'END'
#!/bin/sh
attempt=$(($(cat .attempts 2>/dev/null || echo 0) + 1))
echo $attempt > .attempts
if [ $attempt -lt 3 ]; then
  echo "The server is busy, try again" >&2
  exit 1
fi
printf 'attempt %s' $attempt | sha256sum | cut -d' ' -f1 > data.txt
END
chmod 755 download.sh
