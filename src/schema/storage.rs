//! `storage` and `volume`.

use super::*;

const SERVER: &[Field] = &[
    required("server", Type::String, "Server and path."),
    required("capacity", BYTES, "Usable capacity."),
    default("options", STRINGS, "[]", "Mount options."),
];

const FILE_SERVER: &[Group] = &[once(&THROUGHPUT)];

pub const STORAGE: Shape = Shape {
    name: "storage",
    doc: "A storage system.",
    models: Models::Choice(
        &[
            Model {
                name: "ceph",
                doc: "Rook-Ceph on hosts of the design.",
                fields: &[
                    required("hosts", HOSTS, "Storage hosts."),
                    required("disks", Type::Device, "The disks that become OSDs."),
                    required("network", NETWORK_REF, "Public network."),
                    derived("cluster_network", NETWORK_REF, "network", "Replication network."),
                    default("monitors", Type::Int, "3", "Monitors; odd."),
                    default("fill", RATIO, "85%", "Upper bound of the share that counts as usable."),
                ],
                groups: &[named(&FILESYSTEM), named(&BLOCK), named(&OBJECT)],
            },
            model(
                "local_nvme",
                "Disks of the hosts themselves.",
                &[
                    required("hosts", HOSTS, "Hosts."),
                    required("disks", Type::Device, "The disks."),
                    default("raid", Type::Word(Raid::WORDS), "none", "Striping."),
                    default("provisioner", Type::Word(Provisioner::WORDS), "topolvm", "Who makes the volumes."),
                ],
            ),
            Model { name: "nfs", doc: "NFS.", fields: SERVER, groups: FILE_SERVER },
            Model { name: "lustre", doc: "Lustre.", fields: SERVER, groups: FILE_SERVER },
            Model { name: "weka", doc: "WEKA.", fields: SERVER, groups: FILE_SERVER },
            Model { name: "vast", doc: "VAST.", fields: SERVER, groups: FILE_SERVER },
            Model { name: "beegfs", doc: "BeeGFS.", fields: SERVER, groups: FILE_SERVER },
            model(
                "s3",
                "An object store.",
                &[
                    required("bucket", Type::String, "Bucket."),
                    optional("region", Type::String, "Region."),
                    optional("endpoint", Type::String, "Endpoint, if not the provider's."),
                ],
            ),
            model(
                "external",
                "An existing StorageClass.",
                &[
                    required("class", Type::String, "Its name."),
                    default("access", Type::List(&Type::Word(Access::WORDS)), "[read_write_once]", "Access modes it supports."),
                    optional("capacity", BYTES, "Usable capacity."),
                ],
            ),
        ],
        true,
    ),
    fields: &[
        default("gds", Type::Bool, "false", "GPUDirect Storage is claimed for the path."),
        computed("raw", BYTES, "Bytes of its disks."),
        computed("usable", BYTES, "Bytes that may be filled."),
        computed("read", RATE, "Aggregate read rate."),
        computed("write", RATE, "Aggregate write rate."),
    ],
    groups: &[],
    children: &[],
};

const THROUGHPUT: Shape = group("throughput", "Declared throughput.", &[optional("read", RATE, "Read."), optional("write", RATE, "Write.")]);

const ERASURE: Shape = group("erasure", "Erasure coding.", &[required("data", Type::Int, "Data chunks."), required("parity", Type::Int, "Parity chunks.")]);

const PART_FIELDS: &[Field] = &[
    derived("replicas", Type::Int, "3 without erasure", "Copies; min_size is one less."),
    default("failure_domain", Type::Word(FailureDomain::WORDS), "host", "What may fail as a whole."),
    computed("usable", BYTES, "Bytes that may be filled."),
];

const PART_GROUPS: &[Group] = &[once(&ERASURE)];

const fn part(name: &'static str, doc: &'static str) -> Shape {
    Shape { name, doc, models: Models::None, fields: PART_FIELDS, groups: PART_GROUPS, children: &[] }
}

const FILESYSTEM: Shape = part("filesystem", "A CephFS file system.");
const BLOCK: Shape = part("block", "A pool of block devices.");
const OBJECT: Shape = part("object", "An object store.");

pub const VOLUME: Shape = Shape {
    name: "volume",
    doc: "A claim on a storage.",
    models: Models::None,
    fields: &[
        required("storage", Type::Ref(&["storage", "filesystem", "block", "object"]), "The storage, or its part: `ceph.shared`."),
        required("size", BYTES, "Size of one claim."),
        required("access", Type::Word(Access::WORDS), "Access mode."),
        default("per_host", Type::Bool, "false", "One claim a host (local storage)."),
        optional("holds", Type::Word(Holds::WORDS), "Kind of data, for the rules."),
    ],
    groups: &[once(&SNAPSHOTS)],
    children: &[],
};

const SNAPSHOTS: Shape = group("snapshots", "Snapshots.", &[required("every", TIME, "Interval."), required("keep", Type::Int, "How many are kept.")]);
