#!/bin/sh
# Labels (and Rook's annotation) of the hosts that have joined. Idempotent; needs kubectl and a cluster admin.
# A Node that is applied before its host joins would be created, and a kubelet that finds its Node adds no registerWithTaints.
set -eu
cd "$(dirname "$0")"
joined=$(kubectl get nodes -o name)
kubectl kustomize . | awk -v joined="$joined" '
  BEGIN { n = split(joined, a, "\n"); for (i = 1; i <= n; i++) known[a[i]] = 1; RS = "---\n"; ORS = "---\n" }
  { match($0, /\n  name: [a-z0-9.-]+/); name = substr($0, RSTART + 9, RLENGTH - 9)
    if (("node/" name) in known) print; else printf "not joined yet: %s\n", name > "/dev/stderr" }' |
  kubectl apply --server-side --field-manager=aic-nodes -f -
./taints.sh
