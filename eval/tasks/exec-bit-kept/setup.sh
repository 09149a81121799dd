#!/bin/bash
set -e
printf '#!/bin/sh\necho "Releasing to staging"\n' > release.sh
chmod 755 release.sh
