#!/bin/sh
# RoCE as the switches run it (network/switches): packets are sorted by DSCP, one priority is paused, RDMA carries the mark.
# Run once a boot, before pods: a unit after network-online.target.
set -eu
mlnx_qos -i ibp24s0 --trust dscp --pfc 0,0,0,1,0,0,0,0 --dscp2prio set,26,3
echo 106 > /sys/class/infiniband/mlx5_0/tc/1/traffic_class
cma_roce_tos -d mlx5_0 -t 106
echo 1 > /sys/class/net/ibp24s0/ecn/roce_np/enable/3
echo 1 > /sys/class/net/ibp24s0/ecn/roce_rp/enable/3
mlnx_qos -i ibp64s0 --trust dscp --pfc 0,0,0,1,0,0,0,0 --dscp2prio set,26,3
echo 106 > /sys/class/infiniband/mlx5_3/tc/1/traffic_class
cma_roce_tos -d mlx5_3 -t 106
echo 1 > /sys/class/net/ibp64s0/ecn/roce_np/enable/3
echo 1 > /sys/class/net/ibp64s0/ecn/roce_rp/enable/3
mlnx_qos -i ibp79s0 --trust dscp --pfc 0,0,0,1,0,0,0,0 --dscp2prio set,26,3
echo 106 > /sys/class/infiniband/mlx5_4/tc/1/traffic_class
cma_roce_tos -d mlx5_4 -t 106
echo 1 > /sys/class/net/ibp79s0/ecn/roce_np/enable/3
echo 1 > /sys/class/net/ibp79s0/ecn/roce_rp/enable/3
mlnx_qos -i ibp94s0 --trust dscp --pfc 0,0,0,1,0,0,0,0 --dscp2prio set,26,3
echo 106 > /sys/class/infiniband/mlx5_5/tc/1/traffic_class
cma_roce_tos -d mlx5_5 -t 106
echo 1 > /sys/class/net/ibp94s0/ecn/roce_np/enable/3
echo 1 > /sys/class/net/ibp94s0/ecn/roce_rp/enable/3
mlnx_qos -i ibp154s0 --trust dscp --pfc 0,0,0,1,0,0,0,0 --dscp2prio set,26,3
echo 106 > /sys/class/infiniband/mlx5_6/tc/1/traffic_class
cma_roce_tos -d mlx5_6 -t 106
echo 1 > /sys/class/net/ibp154s0/ecn/roce_np/enable/3
echo 1 > /sys/class/net/ibp154s0/ecn/roce_rp/enable/3
mlnx_qos -i ibp192s0 --trust dscp --pfc 0,0,0,1,0,0,0,0 --dscp2prio set,26,3
echo 106 > /sys/class/infiniband/mlx5_9/tc/1/traffic_class
cma_roce_tos -d mlx5_9 -t 106
echo 1 > /sys/class/net/ibp192s0/ecn/roce_np/enable/3
echo 1 > /sys/class/net/ibp192s0/ecn/roce_rp/enable/3
mlnx_qos -i ibp206s0 --trust dscp --pfc 0,0,0,1,0,0,0,0 --dscp2prio set,26,3
echo 106 > /sys/class/infiniband/mlx5_10/tc/1/traffic_class
cma_roce_tos -d mlx5_10 -t 106
echo 1 > /sys/class/net/ibp206s0/ecn/roce_np/enable/3
echo 1 > /sys/class/net/ibp206s0/ecn/roce_rp/enable/3
mlnx_qos -i ibp220s0 --trust dscp --pfc 0,0,0,1,0,0,0,0 --dscp2prio set,26,3
echo 106 > /sys/class/infiniband/mlx5_11/tc/1/traffic_class
cma_roce_tos -d mlx5_11 -t 106
echo 1 > /sys/class/net/ibp220s0/ecn/roce_np/enable/3
echo 1 > /sys/class/net/ibp220s0/ecn/roce_rp/enable/3
