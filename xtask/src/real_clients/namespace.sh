#!/usr/bin/env bash
# namespace.sh RUN CLIENTS FOLDER: runs RUN/steps.json where a client reaches nothing but this folder and the mock API.
#
# Inside, RUN/home is /home/user, RUN is /mnt/run, CLIENTS is /mnt/clients and this folder is /mnt/kit; the last two are
# read-only. Every other folder that is no part of the system is empty. The network, the processes and the mounts are
# new; FOLDER is made inside, if it is not there; the only interface is the loopback. The client runs as another user, because some refuse to work for root.
# Needs root, or a container in which `unshare` works, and the packages util-linux and iproute2.
set -euo pipefail
export KIT RUN CLIENTS FOLDER USER_ID=1500
KIT=$(cd "$(dirname "$0")" && pwd)
RUN=$(cd "$1" && pwd)
CLIENTS=$(cd "$2" && pwd)
FOLDER=$3
mkdir -p "$RUN/home/project" "$RUN/tmp"
printf 'root:x:0:0::/nonexistent:/bin/sh\nuser:x:%s:%s::/home/user:/bin/sh\n' $USER_ID $USER_ID > "$RUN/passwd"
chown -R $USER_ID:$USER_ID "$RUN"
exec unshare --net --mount --pid --ipc --uts --fork --mount-proc bash -c '
  set -euo pipefail
  ip link set lo up
  ulimit -c 0
  mount -t tmpfs tmpfs /mnt
  mkdir /mnt/clients /mnt/kit /mnt/run
  mount --bind "$CLIENTS" /mnt/clients && mount -o remount,bind,ro /mnt/clients
  mount --bind "$KIT" /mnt/kit && mount -o remount,bind,ro /mnt/kit
  mount --bind "$RUN" /mnt/run
  mount --bind /mnt/run/passwd /etc/passwd
  for folder in /* /etc/claude-code; do
    case $folder in
      /bin | /sbin | /usr | /lib* | /proc | /sys | /dev | /etc | /run | /mnt | /var) ;;
      *) if [ -d "$folder" ] && ! [ -L "$folder" ]; then mount -t tmpfs -o mode=755 tmpfs "$folder"; fi ;;
    esac
  done
  mkdir -p /home/user /tmp
  mount --bind /mnt/run/home /home/user
  mount --bind /mnt/run/tmp /tmp
  [ -d "$FOLDER" ] || { mkdir -p "$FOLDER" && chown "$USER_ID:$USER_ID" "$FOLDER"; }
  cd /home/user/project
  exec setpriv --reuid=$USER_ID --regid=$USER_ID --clear-groups --inh-caps=-all --no-new-privs \
    env -i PATH=/mnt/clients/node/bin:/usr/local/bin:/usr/bin:/bin HOME=/home/user USER=user SHELL=/bin/bash TERM=dumb \
    LANG=C.UTF-8 TZ=UTC NO_COLOR=1 DO_NOT_TRACK=1 PYTHONDONTWRITEBYTECODE=1 /usr/bin/env python3 /mnt/kit/steps.py
'
