//! `queue` and `workload`.

use super::reader::model_of;
use super::*;

impl Builder<'_, '_> {
    pub(super) fn queue(&self, o: &Object, r: &Reader<'_, '_>, at: At) -> Queue {
        let gpus = r.int_opt("gpus");
        let resources = r
            .map("resources")
            .into_iter()
            .filter_map(|(key, value)| match value {
                Value::Int(n) => Some((key, Amount::Count(n))),
                Value::Quantity(q) => Some((key, Amount::Bytes(q))),
                _ => None,
            })
            .collect();
        Queue {
            name: o.hyphenated.clone(),
            pools: self.indices(r.entities("pool")),
            gpus,
            resources,
            cohort: r.text_opt("cohort"),
            borrow: r.int("borrow"),
            lend: r.int_opt("lend").or(gpus).unwrap_or(0),
            namespace: r.text_opt("namespace").unwrap_or_else(|| o.hyphenated.clone()),
            priority: r.int("priority"),
            preemption: r.word("preemption"),
            reclaim: r.word("reclaim"),
            sound: r.sound.get(),
            at,
        }
    }

    pub(super) fn workload(&self, o: &Object, r: &Reader<'_, '_>, at: At) -> Workload {
        let word: WorkloadWord = model_of(o.model);
        let (queue, pool) = (self.index_of(r.entity("queue")), self.index_of(r.entity("pool")));
        let parallel = r.group("parallel").map(|p| Parallel {
            tensor: p.int("tensor"),
            pipeline: p.int("pipeline"),
            data: p.int("data"),
            context: p.int("context"),
            expert: p.int("expert"),
        });
        let checkpoint = r.group("checkpoint").and_then(|c| {
            Some(Checkpoint {
                volume: self.index_of(c.entity("volume"))?,
                size: c.bytes("size"),
                every: c.quantity("every", Dimension::Time),
                keep: c.int("keep"),
                readers: c.int_opt("readers").unwrap_or_else(|| parallel.as_ref().map_or(1, |p| p.data)),
                restore_within: c.quantity_opt("restore_within"),
            })
        });
        let place = r.group("place").map_or_else(Place::default, |p| Place {
            within: p.word_opt("within"),
            prefer: p.word_opt("prefer"),
            spread: p.word_opt("spread"),
            slice: p.int_opt("slice"),
        });
        let roles: Vec<Role> = r
            .groups("role")
            .iter()
            .map(|g| Role {
                name: g.label().replace('_', "-"),
                replicas: g.int("replicas"),
                nodes: g.int("nodes"),
                gpus: g.int("gpus"),
                cpu: g.int("cpu"),
                memory: g.bytes("memory"),
                command: g.texts("command"),
            })
            .collect();
        let served = || Served {
            ports: r
                .groups("port")
                .iter()
                .map(|p| ServedPort { name: p.label().replace('_', "-"), number: p.int("number"), health: p.text_opt("health") })
                .collect(),
            max_unavailable: r.group("disruption").and_then(|d| d.int_opt("max_unavailable")).unwrap_or(1),
        };
        let has_roles = !roles.is_empty();
        let kind = match word {
            WorkloadWord::Training => WorkloadKind::Training { form: r.word("form"), parallel, checkpoint },
            WorkloadWord::Inference => WorkloadKind::Inference(Box::new(Inference {
                parallel,
                autoscale: r
                    .groups("autoscale")
                    .iter()
                    .map(|a| Autoscale { role: a.text_opt("role"), min: a.int("min"), max: a.int("max"), metric: a.word("metric"), target: a.int("target") })
                    .collect(),
                roles,
                kv_transfer: r.group("kv_transfer").map(|k| KvTransfer { from: k.text("from"), to: k.text("to"), network: k.word("network") }),
                served: served(),
            })),
            WorkloadWord::Batch => {
                WorkloadKind::Batch { completions: r.int("completions"), parallelism: r.int("parallelism"), deadline: r.quantity_opt("deadline") }
            }
            WorkloadWord::Service => WorkloadKind::Service(served()),
            WorkloadWord::Manifest => WorkloadKind::Manifest { file: r.text("file") },
        };
        let slice = r.group("gpu").and_then(|g| g.text_opt("mig").map(|mig| (mig, g.int("count"))));
        if o.model.is_some() {
            self.require_of_workload(r, &at, word, queue.is_some() || pool.is_some(), has_roles);
        }
        Workload {
            name: o.hyphenated.clone(),
            queue,
            pool,
            namespace: r.text_opt("namespace").unwrap_or_default(),
            image: r.text_opt("image").unwrap_or_default(),
            command: r.texts("command"),
            args: r.texts("args"),
            env: r.text_map("env"),
            nodes: r.int_opt("nodes").unwrap_or(1),
            replicas: r.int("replicas"),
            gpus: r.int_opt("gpus").unwrap_or(-1),
            slice,
            cpu: r.int_opt("cpu").unwrap_or(0),
            memory: r.bytes("memory"),
            hugepages: r.bytes("hugepages"),
            shm: r.quantity_opt("shm"),
            ephemeral: r.bytes("ephemeral"),
            rdma: r
                .bool_opt("rdma")
                .unwrap_or(word == WorkloadWord::Training || r.group("kv_transfer").is_some_and(|k| k.word::<KvNetwork>("network") == KvNetwork::Rdma)),
            place,
            mounts: r
                .groups("mount")
                .iter()
                .filter_map(|m| Some(Mount { volume: self.index_of(m.entity("volume"))?, path: m.text("path"), read_only: m.bool("read_only") }))
                .collect(),
            priority: r.int("priority"),
            grace: r.quantity_opt("grace"),
            restarts: r.int("restarts"),
            heterogeneous: r.text_opt("heterogeneous"),
            sound: r.sound.get(),
            kind,
            at,
        }
    }

    /// What a workload must say depends on its kind.
    pub(super) fn require_of_workload(&self, r: &Reader<'_, '_>, at: &At, word: WorkloadWord, placed: bool, roles: bool) {
        if r.node.broken || !r.sound.get() {
            return;
        }
        let mut missing = Vec::new();
        if !placed {
            missing.push("queue");
        }
        if word != WorkloadWord::Manifest {
            let mut need = |name: &'static str| {
                if !r.node.fields.contains_key(name) {
                    missing.push(name);
                }
            };
            need("image");
            if !roles {
                need("cpu");
                need("memory");
            }
            if word == WorkloadWord::Training {
                need("nodes");
            }
        }
        if missing.is_empty() {
            return;
        }
        r.sound.set(false);
        let names: Vec<String> = missing.iter().map(|m| if *m == "queue" { "`queue` or `pool`".into() } else { format!("`{m}`") }).collect();
        let forms: Vec<String> = missing.iter().map(|m| format!("{m} = …")).collect();
        let all = crate::base::names::list_of(&names, "and");
        self.lang.error(
            Diagnostic::error("AIC0108", format!("workload {} needs {all}", at.source.trim_start_matches("workload.")))
                .at(at.head, format!("without {all}"))
                .help(format!("add `{}`", forms.join("`, `"))),
        );
    }
}
