#!/bin/bash
set -e
printf '[server]\r\nhost=localhost\r\ntimeout=30\r\n\r\n[log]\r\nlevel=info\r\n' > settings.ini
