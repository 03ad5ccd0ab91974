//! The upper entries of a write buffer, powered only while the entry counter needs them (hybrid paper 5.2, table 2).

/// State of these entries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Off,
    /// Waking up: the remaining cycles until they have power.
    Waking(usize),
    On,
    /// Falling asleep: the remaining cycles until they have no power.
    Sleeping(usize),
}

/// The upper entries of a buffer.
#[derive(Clone, Debug)]
pub struct Power {
    /// Number of entries that are always on; `None` if all entries are.
    powered: Option<usize>,
    wake: usize,
    sleep: usize,
    state: State,
}

/// Events of a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Powered {
    /// The entries are off; `waking` and `sleeping`: they are waking, falling asleep.
    pub off: bool,
    /// See above.
    pub waking: bool,
    /// See above.
    pub sleeping: bool,
    /// They start to wake; `sleeps`: they start to fall asleep.
    pub wakes: bool,
    /// See above.
    pub sleeps: bool,
}

impl Power {
    /// The entries are off. Waking takes at least one cycle.
    pub fn new(powered: Option<usize>, wake: usize, sleep: usize) -> Self {
        Self { powered, wake: wake.max(1), sleep, state: State::Off }
    }

    /// Whether a new entry would have no power while this many entries are used.
    pub fn is_closed(&self, used: usize) -> bool {
        self.powered.is_some_and(|powered| used >= powered) && self.state != State::On
    }

    /// Runs a cycle: `used` entries are used; `needed`: a result waits for the next entry.
    pub fn cycle(&mut self, used: usize, needed: bool) -> Powered {
        let mut events = Powered::default();
        let on_its_way = |cycles, way: fn(usize) -> State, end| if cycles == 1 { end } else { way(cycles - 1) };
        self.state = match self.state {
            State::Off => {
                events.off = self.powered.is_some();
                events.wakes = needed;
                match needed {
                    true => on_its_way(self.wake, State::Waking, State::On),
                    false => State::Off,
                }
            }
            State::Waking(cycles) => {
                events.waking = true;
                on_its_way(cycles, State::Waking, State::On)
            }
            State::On => {
                events.sleeps = used == 0;
                match (used, self.sleep) {
                    (0, 0) => State::Off,
                    (0, cycles) => State::Sleeping(cycles),
                    _ => State::On,
                }
            }
            State::Sleeping(cycles) => {
                events.sleeping = true;
                on_its_way(cycles, State::Sleeping, State::Off)
            }
        };
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_wakes_when_it_is_needed_and_sleeps_when_the_buffer_is_empty() {
        let mut power = Power::new(Some(4), 3, 2);
        assert!(!power.is_closed(3) && power.is_closed(4));
        // Off in the cycle in which it is needed, then two cycles of waking: so the result waits for three cycles.
        let wakes = Powered { off: true, wakes: true, ..Powered::default() };
        let waking = Powered { waking: true, ..Powered::default() };
        assert_eq!([(); 3].map(|()| power.cycle(4, true)), [wakes, waking, waking]);
        assert!(!power.is_closed(4));
        assert_eq!(power.cycle(4, false), Powered::default());
        let sleeps = Powered { sleeps: true, ..Powered::default() };
        let sleeping = Powered { sleeping: true, ..Powered::default() };
        let off = Powered { off: true, ..Powered::default() };
        assert_eq!([(); 4].map(|()| power.cycle(0, false)), [sleeps, sleeping, sleeping, off]);
        assert_eq!(Power::new(None, 3, 2).cycle(0, false), Powered::default());
    }
}
