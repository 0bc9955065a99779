#!/bin/sh
# RoCE as the switches run it (network/switches): packets are sorted by DSCP, one priority is paused, RDMA carries the mark.
# Run once a boot, before pods: a unit after network-online.target.
set -eu
mlnx_qos -i rail0 --trust dscp --pfc 0,0,0,1,0,0,0,0 --dscp2prio set,26,3
echo 106 > /sys/class/infiniband/$(basename /sys/class/net/rail0/device/infiniband/*)/tc/1/traffic_class
cma_roce_tos -d $(basename /sys/class/net/rail0/device/infiniband/*) -t 106
echo 1 > /sys/class/net/rail0/ecn/roce_np/enable/3
echo 1 > /sys/class/net/rail0/ecn/roce_rp/enable/3
mlnx_qos -i rail1 --trust dscp --pfc 0,0,0,1,0,0,0,0 --dscp2prio set,26,3
echo 106 > /sys/class/infiniband/$(basename /sys/class/net/rail1/device/infiniband/*)/tc/1/traffic_class
cma_roce_tos -d $(basename /sys/class/net/rail1/device/infiniband/*) -t 106
echo 1 > /sys/class/net/rail1/ecn/roce_np/enable/3
echo 1 > /sys/class/net/rail1/ecn/roce_rp/enable/3
mlnx_qos -i rail2 --trust dscp --pfc 0,0,0,1,0,0,0,0 --dscp2prio set,26,3
echo 106 > /sys/class/infiniband/$(basename /sys/class/net/rail2/device/infiniband/*)/tc/1/traffic_class
cma_roce_tos -d $(basename /sys/class/net/rail2/device/infiniband/*) -t 106
echo 1 > /sys/class/net/rail2/ecn/roce_np/enable/3
echo 1 > /sys/class/net/rail2/ecn/roce_rp/enable/3
mlnx_qos -i rail3 --trust dscp --pfc 0,0,0,1,0,0,0,0 --dscp2prio set,26,3
echo 106 > /sys/class/infiniband/$(basename /sys/class/net/rail3/device/infiniband/*)/tc/1/traffic_class
cma_roce_tos -d $(basename /sys/class/net/rail3/device/infiniband/*) -t 106
echo 1 > /sys/class/net/rail3/ecn/roce_np/enable/3
echo 1 > /sys/class/net/rail3/ecn/roce_rp/enable/3
mlnx_qos -i rail4 --trust dscp --pfc 0,0,0,1,0,0,0,0 --dscp2prio set,26,3
echo 106 > /sys/class/infiniband/$(basename /sys/class/net/rail4/device/infiniband/*)/tc/1/traffic_class
cma_roce_tos -d $(basename /sys/class/net/rail4/device/infiniband/*) -t 106
echo 1 > /sys/class/net/rail4/ecn/roce_np/enable/3
echo 1 > /sys/class/net/rail4/ecn/roce_rp/enable/3
mlnx_qos -i rail5 --trust dscp --pfc 0,0,0,1,0,0,0,0 --dscp2prio set,26,3
echo 106 > /sys/class/infiniband/$(basename /sys/class/net/rail5/device/infiniband/*)/tc/1/traffic_class
cma_roce_tos -d $(basename /sys/class/net/rail5/device/infiniband/*) -t 106
echo 1 > /sys/class/net/rail5/ecn/roce_np/enable/3
echo 1 > /sys/class/net/rail5/ecn/roce_rp/enable/3
mlnx_qos -i rail6 --trust dscp --pfc 0,0,0,1,0,0,0,0 --dscp2prio set,26,3
echo 106 > /sys/class/infiniband/$(basename /sys/class/net/rail6/device/infiniband/*)/tc/1/traffic_class
cma_roce_tos -d $(basename /sys/class/net/rail6/device/infiniband/*) -t 106
echo 1 > /sys/class/net/rail6/ecn/roce_np/enable/3
echo 1 > /sys/class/net/rail6/ecn/roce_rp/enable/3
mlnx_qos -i rail7 --trust dscp --pfc 0,0,0,1,0,0,0,0 --dscp2prio set,26,3
echo 106 > /sys/class/infiniband/$(basename /sys/class/net/rail7/device/infiniband/*)/tc/1/traffic_class
cma_roce_tos -d $(basename /sys/class/net/rail7/device/infiniband/*) -t 106
echo 1 > /sys/class/net/rail7/ecn/roce_np/enable/3
echo 1 > /sys/class/net/rail7/ecn/roce_rp/enable/3
