#!/bin/sh
# Stable names /dev/disk/by-aic/osd-N for the CephCluster's devicePathFilter, in the order of the PCIe path: a replaced disk keeps its name.
# Run once a host before it joins; idempotent; writes nothing unless exactly 10 disks are found.
set -eu
rules=/etc/udev/rules.d/60-aic-osd.rules
list=$(for d in $(lsblk -dnbo NAME,SIZE,TYPE | awk '$3=="disk" && $1 ~ /^nvme/ && $2 > 6.080e12 && $2 < 6.720e12 {print $1}'); do
  udevadm info -q property -n "/dev/$d" | sed -n 's/^ID_PATH=//p'; done | sort -V)
n=$(printf '%s\n' "$list" | grep -c . || true)
[ "$n" -eq 10 ] || { echo "expected 10 disks, found $n" >&2; exit 1; }
printf '%s\n' "$list" | awk '{printf "SUBSYSTEM==\"block\", ENV{DEVTYPE}==\"disk\", ENV{ID_PATH}==\"%s\", SYMLINK+=\"disk/by-aic/osd-%d\"\n", $0, NR-1}' > "$rules"
udevadm control --reload
udevadm trigger --subsystem-match=block --settle
ls -l /dev/disk/by-aic
