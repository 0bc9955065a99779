#!/bin/sh
# Taints of hosts that are already in the cluster; new ones bring them (registerWithTaints in hosts/<pool>/kubelet.yaml).
# spec.taints is one atomic list that cordon and the node-lifecycle controller write too, so it is never applied as a patch.
set -eu
taint() { kubectl taint nodes -l "$1" "$2" --overwrite; }
taint aic.local.node-restriction.kubernetes.io/pool=training nvidia.com/gpu=training:NoSchedule
# services: no taint; operators and everything without a pool run there.
# The taint that Kubernetes knows a control plane by, and no second one: CoreDNS, the CNI's operator and kube-vip tolerate exactly this key.
taint aic.local.node-restriction.kubernetes.io/pool=control-plane node-role.kubernetes.io/control-plane:NoSchedule
