//! Look-up of feature ids by open addressing.

/// Slots on the way to an id before a table is given up: ids that collide so
/// often were chosen to.
const MAX_PROBES: usize = 64;

/// Slots for each id, at least; a power of two up to twice as many are kept.
const SPARSITY: usize = 4;

/// Ids looked up at a time.
const BLOCK: usize = 64;

/// Fibonacci hashing: the upper bits of the product spread neighbouring ids.
#[inline]
fn hash(id: u32) -> u32 {
    id.wrapping_mul(0x9e37_79b1)
}

/// Positions of unique ids in a list that the caller keeps, by hash.
#[derive(Debug, Default)]
pub(super) struct SlotTable {
    /// 1 + position, 0 where there is none. Their number is a power of two.
    slots: Vec<u32>,
    shift: u32,
}

impl SlotTable {
    /// Take in the positions of `ids` in place of all before. Cost: linear.
    ///
    /// False, and empty, for ids that collide too often or are too many.
    pub(super) fn fill(&mut self, ids: &[u32]) -> bool {
        let n_slots = (SPARSITY * ids.len()).next_power_of_two().max(2);
        self.slots.clear();
        if ids.len() >= 1 << 28 {
            return false;
        }
        self.slots.resize(n_slots, 0);
        self.shift = 32 - n_slots.trailing_zeros();
        let mask = n_slots - 1;
        for (position, &id) in ids.iter().enumerate() {
            let first = (hash(id) >> self.shift) as usize;
            let free = (first..first + MAX_PROBES).find(|&at| self.slots[at & mask] == 0);
            let Some(at) = free else {
                self.slots.clear();
                return false;
            };
            self.slots[at & mask] = position as u32 + 1;
        }
        true
    }

    pub(super) fn is_filled(&self) -> bool {
        !self.slots.is_empty()
    }

    /// Call `each(i, position)` for all `asked[i]` that are in `ids`, the list
    /// that was filled in, in the order of `asked`, until it fails.
    #[inline]
    pub(super) fn each_found<E>(
        &self,
        asked: &[u32],
        ids: &[u32],
        mut each: impl FnMut(usize, usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let mask = self.slots.len() - 1;
        for (start, block) in (0..).step_by(BLOCK).zip(asked.chunks(BLOCK)) {
            // Most ids meet an empty slot. Which ones is beyond a branch
            // predictor, so the others are collected without a branch.
            let mut met = [0u8; BLOCK];
            let mut n_met = 0;
            for (i, &id) in block.iter().enumerate() {
                met[n_met % BLOCK] = i as u8;
                let slot = self.slots[(hash(id) >> self.shift) as usize & mask];
                n_met += usize::from(slot != 0);
            }
            for &i in &met[..n_met] {
                let i = usize::from(i);
                if let Some(position) = self.find(block[i], ids) {
                    each(start + i, position)?;
                }
            }
        }
        Ok(())
    }

    /// Position of `id` in `ids`, the list that was filled in.
    #[inline]
    fn find(&self, id: u32, ids: &[u32]) -> Option<usize> {
        let mask = self.slots.len() - 1;
        let mut at = (hash(id) >> self.shift) as usize;
        loop {
            // At most a quarter of the slots are taken, so an empty one comes.
            let position = self.slots[at & mask].checked_sub(1)? as usize;
            if ids[position] == id {
                return Some(position);
            }
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn ids_are_found_and_others_are_not() {
        for n in [0u32, 1, 2, 3, 40, 1000] {
            let ids: Vec<u32> = (0..n).map(|i| i * 7 + 3).collect();
            let mut table = SlotTable::default();
            // What was there before is gone.
            table.fill(&[5, 6, 7]);
            assert!(table.fill(&ids));
            let asked: Vec<u32> = (0..7 * n + 10).collect();
            let mut found = Vec::new();
            let each = |i, position| -> Result<(), Infallible> {
                found.push((i, position));
                Ok(())
            };
            let Ok(()) = table.each_found(&asked, &ids, each);
            let expected: Vec<_> = (0..n as usize).map(|at| (7 * at + 3, at)).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn ids_made_to_collide_are_given_up() {
        // 0x0e8b_2f51 undoes the multiplication: their hashes are 0, 1, 2, ...
        let mut ids: Vec<u32> = (0..1000u32).map(|i| i.wrapping_mul(0x0e8b_2f51)).collect();
        ids.sort_unstable();
        let mut table = SlotTable::default();
        assert!(!table.fill(&ids));
        assert!(!table.is_filled());
    }
}
