use super::*;

impl Levels {
    /// What the comments promise, checked by walking everything. Returns the number of live timers.
    pub(crate) fn check<T>(&mut self, entries: &Entries<T>) -> u32 {
        assert_eq!(self.pending, 0, "settle first");
        let (mut live, mut rings) = (0, 0);
        for level in self.geometry.clone().levels() {
            let ring = self.current[level as usize];
            assert_eq!(self.occupied & (1 << level) != 0, self.rings.count(ring) > 0);
            live += self.check_ring(entries, ring, level, self.hand, &mut rings);
        }
        assert_eq!(self.rings.in_use(), rings);
        let next = self.next;
        self.find_next();
        assert_eq!(next, self.next);
        live
    }

    fn check_ring<T>(&mut self, entries: &Entries<T>, ring: u32, level: u32, hand: Tick, rings: &mut usize) -> u32 {
        *rings += 1;
        let mut sum = 0;
        for digit in 0..self.geometry.slots() {
            let slot = *self.rings.slot(ring + digit);
            let start = self.geometry.start_of(level, digit, hand);
            let live = match slot.ring() {
                Some(below) => self.check_ring(entries, below, self.geometry.below(level), start, rings),
                None => self.check_queue(entries, slot, level, start),
            };
            assert_eq!(live > 0, self.rings.is_occupied(ring + digit));
            assert_eq!(live, slot.live);
            sum += live;
        }
        sum
    }

    fn check_queue<T>(&mut self, entries: &Entries<T>, slot: Slot, level: u32, start: Tick) -> u32 {
        assert!(level == 0 || slot.live <= self.limit + 2 * PENDING as u32);
        let expected = slot.live;
        assert!(slot.len() == 0 || slot.live > 0);
        // Where chunks are merged, 64 for nine timers, in five sixths of them; five, where at most one slot at a time is tidied up at once.
        assert!(slot.len() <= 10 * slot.live + 1_000, "{} positions for {}", slot.len(), slot.live);
        let (mut slot, mut pool, mut live) = (slot, self.pool.clone(), 0);
        while let Some(index) = pool.pop(&mut slot, &wheelhouse_core::meter::NoMeter) {
            let Some(entry) = entries.at(index) else { panic!("a hole is left by who leaves") };
            assert!(entry.deadline >= self.hand, "ahead of the hand");
            let digit = self.geometry.digit_of(entry.deadline, level);
            assert_eq!(self.geometry.start_of(level, digit, entry.deadline), start, "in the slot its deadline names");
            live += 1;
        }
        assert_eq!(live, expected);
        live
    }

    pub(crate) fn rings_in_use(&self) -> usize {
        self.rings.in_use()
    }
}
