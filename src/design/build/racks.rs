//! `rack` and `host`.

use super::*;

impl Builder<'_, '_> {
    pub(super) fn rack(&self, o: &Object, r: &Reader<'_, '_>, at: At, before: &[Rack]) -> Rack {
        let row = r.int("row");
        let power = r.quantity_opt("power");
        Rack {
            name: o.hyphenated.clone(),
            height: r.units("height").unwrap_or(0),
            cooling: r.quantity_opt("cooling").or(power),
            power,
            weight: r.quantity_opt("weight"),
            pdus: r.int("pdus"),
            feeds: r.int("feeds"),
            supply: r.group("supply").map(|s| Supply {
                volts: s.int("volts"),
                amps: s.int("amps"),
                phases: s.int("phases"),
                derating: s.quantity("derating", Dimension::Ratio),
            }),
            zone: r.text_opt("zone"),
            column: r.int_opt("column").unwrap_or_else(|| before.iter().filter(|b| b.row == row).count() as i64),
            row,
            declaration: o.name.to_string(),
            system: o.product.as_ref().map(|p| self.system(p)),
            sound: r.sound.get(),
            at,
        }
    }

    pub(super) fn host(&self, o: &Object, r: &Reader<'_, '_>, at: At) -> Host {
        let system = o.product.as_ref().map(|p| self.system(p)).unwrap_or_default();
        let firmware = r.group("firmware");
        Host {
            name: r.text_opt("hostname").unwrap_or_else(|| o.hyphenated.clone()),
            rack: self.index_of(o.parent.map(Entity::Object)),
            position: r.units("position"),
            height: r.units("height").or(system.height),
            power: r.quantity_opt("power").or(system.power),
            zone: r.text_opt("zone"),
            capacity: r.word("capacity"),
            labels: r.text_map("labels").into_iter().collect(),
            sriov: firmware.as_ref().is_none_or(|f| f.bool("sriov")),
            iommu: firmware.as_ref().map_or(Iommu::Passthrough, |f| f.word("iommu")),
            sound: r.sound.get() && o.product.is_some(),
            system,
            at,
        }
    }
}
