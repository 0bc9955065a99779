#!/bin/sh
# TopoLVM needs the volume group scratch, it does not make it. Run once a host before it joins. Idempotent; refuses a disk that carries anything.
set -eu
vgs scratch >/dev/null 2>&1 && exit 0
disks=$(lsblk -dnbo NAME,SIZE,TYPE | awk '$3=="disk" && $1 ~ /^nvme/ && $2 > 3.648e12 && $2 < 4.032e12 {print $1}')
[ "$(printf '%s\n' "$disks" | grep -c .)" -eq 8 ] || { echo "expected 8 disks, found: $disks" >&2; exit 1; }
paths=
for d in $disks; do
  [ -z "$(wipefs -n "/dev/$d")" ] || { echo "/dev/$d is not empty" >&2; exit 1; }
  paths="$paths /dev/$d"
done
# shellcheck disable=SC2086
vgcreate scratch $paths
