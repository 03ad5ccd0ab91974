//! Leakage by power states: numbers worked out by hand, properties, inputs that are refused, and numbers that the sharing thesis prints.

use gpurf_energy::leakage::*;

fn close(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-9 * expected.abs().max(1.0), "{value} is not {expected}");
}

/// 10 registers for 100 cycles.
const RUN: StateCounts = StateCounts {
    cycles: 100,
    registers: 10,
    on: 200,
    sleep: 500,
    off: 300,
    to_sleep: 20,
    to_off: 5,
    from_sleep: 15,
    from_off: 10,
};

/// The same file without states took 80 cycles.
const BASELINE: StateCounts = StateCounts::always_on(10, 80);

const PLAIN: Leakage = Leakage { sleep: 0.5, off: 0.0, sleep_transition: 2.0, off_transition: 4.0, routing: 0.0 };

/// Parameters without transitions and routing.
fn states(sleep: f64) -> Leakage {
    Leakage { sleep, off: 0.0, sleep_transition: 0.0, off_transition: 0.0, routing: 0.0 }
}

/// A run in which every register is in SLEEP.
fn asleep(registers: u64, cycles: u64) -> StateCounts {
    StateCounts { on: 0, sleep: registers * cycles, ..StateCounts::always_on(registers, cycles) }
}

/// Runs with all kinds of counts.
fn runs() -> Vec<StateCounts> {
    let mut seed = 1_u64;
    let mut number = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let run = |_| {
        let (registers, cycles) = (1 + number(64), 1 + number(1000));
        let on = number(registers * cycles + 1);
        let sleep = number(registers * cycles - on + 1);
        let off = registers * cycles - on - sleep;
        let [to_sleep, to_off] = [number(50), number(50)];
        let [from_sleep, from_off] = [number(to_sleep + registers), number(to_off + registers)];
        StateCounts { cycles, registers, on, sleep, off, to_sleep, to_off, from_sleep, from_off }
    };
    (0..500).map(run).collect()
}

#[test]
fn energy_of_known_counts() {
    // 200 ON, half of 500 in SLEEP, 35 changes to or from SLEEP at 2, 15 to or from OFF at 4.
    close(PLAIN.energy(&RUN).unwrap(), 200.0 + 250.0 + 70.0 + 60.0);
    close(Leakage { off: 0.1, ..PLAIN }.energy(&RUN).unwrap(), 580.0 + 30.0);
    // A quarter of 1000 leaks whatever the states; three quarters of the rest remain.
    close(Leakage { routing: 0.25, ..PLAIN }.energy(&RUN).unwrap(), 250.0 + 435.0);
    // Each kind of change has its energy.
    let energy = |run: StateCounts| PLAIN.energy(&run).unwrap();
    close(energy(StateCounts { to_sleep: 21, ..RUN }), 582.0);
    close(energy(StateCounts { from_sleep: 16, ..RUN }), 582.0);
    close(energy(StateCounts { to_off: 6, ..RUN }), 584.0);
    close(energy(StateCounts { from_off: 11, ..RUN }), 584.0);
}

#[test]
fn a_run_by_its_baseline() {
    let relative = PLAIN.relative(&RUN, &BASELINE).unwrap();
    close(relative.cycles, 1.25);
    close(relative.energy, 580.0 / 800.0);
    close(relative.power, 5.8 / 10.0);
    // Routing leaks longer as the run is longer.
    let relative = Leakage { routing: 0.25, ..PLAIN }.relative(&RUN, &BASELINE).unwrap();
    close(relative.energy, 0.25 * 1.25 + 0.75 * 580.0 / 800.0);
    close(relative.power, 0.25 + 0.75 * 0.58);
    let routing = Leakage { routing: 1.0, ..PLAIN }.relative(&RUN, &BASELINE).unwrap();
    assert_eq!(routing, Relative { cycles: 1.25, power: 1.0, energy: 1.25 });
    // A baseline with states of its own.
    close(PLAIN.relative(&BASELINE, &RUN).unwrap().energy, 800.0 / 580.0);
}

#[test]
fn transitions_in_cycles_of_a_register() {
    // 248.7 mW for 128 KB are 0.242871 mW for a register, 0.331791 pJ in a cycle of 1.366120 ns; 37.3 and 117.74 pJ are shared by 64 registers.
    let within = |value: f64, expected: f64| assert!((value / expected - 1.0).abs() < 1e-5, "{value} {expected}");
    within(REGISTER_LEAKAGE, 0.242871);
    let of = |transition_of| Leakage::thesis(0.5, transition_of, REGISTER_LEAKAGE);
    let bank = of(TransitionOf::Bank);
    within(bank.sleep_transition, 0.582_812_5 / 0.331_791);
    within(bank.off_transition, 1.839_687_5 / 0.331_791);
    assert_eq!((bank.sleep, bank.off, bank.routing), (0.5, 0.0, 0.0));
    assert_eq!(TransitionOf::default(), TransitionOf::Bank);
    within(of(TransitionOf::Register).sleep_transition, 37.3 / 0.331_791);
    within(of(TransitionOf::Register).off_transition, 117.74 / 0.331_791);
    within(of(TransitionOf::File).sleep_transition, 37.3 / 2048.0 / 0.331_791);
    within(of(TransitionOf::File).off_transition, 117.74 / 2048.0 / 0.331_791);
    // If a register leaks twice as much, its transitions cost half as many cycles.
    let leaky = Leakage::thesis(0.5, TransitionOf::Bank, 2.0 * REGISTER_LEAKAGE);
    close(leaky.sleep_transition, bank.sleep_transition / 2.0);
    close(leaky.off_transition, bank.off_transition / 2.0);
}

#[test]
fn bounds() {
    let all_on = StateCounts::always_on(7, 300);
    let all_off = StateCounts { on: 0, off: 2100, ..all_on };
    for routing in [0.0, 0.3, 1.0] {
        let leakage = Leakage { routing, ..PLAIN };
        let relative = |run| leakage.relative(run, &all_on).unwrap();
        assert_eq!(relative(&all_on), Relative { cycles: 1.0, power: 1.0, energy: 1.0 });
        close(relative(&all_off).energy, routing);
    }
    for run in runs() {
        let StateCounts { registers, cycles, on, .. } = run;
        let all = StateCounts::always_on(registers, cycles);
        let still = StateCounts { to_sleep: 0, to_off: 0, from_sleep: 0, from_off: 0, ..run };
        let energy = |sleep: f64| states(sleep).relative(&run, &all).unwrap().energy;
        // The energy is between that of the registers that are ON and that of all; it increases with the leakage of SLEEP, strictly if any register
        // is in SLEEP.
        assert!(energy(0.0) >= on as f64 / (registers * cycles) as f64 - 1e-12 && energy(1.0) <= 1.0 + 1e-12);
        for (low, high) in [(0.0, 0.1), (0.1, 0.5), (0.5, 1.0)] {
            assert_eq!(energy(low) < energy(high), run.sleep > 0, "{run:?}");
            assert!(energy(low) <= energy(high), "{run:?}");
        }
        // Transitions only add energy; routing moves every result towards that of time alone.
        assert!(PLAIN.energy(&run).unwrap() >= PLAIN.energy(&still).unwrap());
        let routed = |routing| Leakage { routing, ..PLAIN }.relative(&run, &all).unwrap().energy;
        close(routed(0.4), 0.4 + 0.6 * routed(0.0));
    }
}

#[test]
fn the_leakage_in_sleep_is_fitted() {
    // 200 + 500 s + 130 = 0.59 * 800.
    let fitted = PLAIN.with_sleep_fitted(&[(RUN, BASELINE)], Mean::Arithmetic, 0.41).unwrap();
    close(fitted.sleep, 0.284);
    assert_eq!(Leakage { sleep: PLAIN.sleep, ..fitted }, PLAIN);
    // Two runs of s and of 2 s: the arithmetic mean is 1.5 s, the geometric one is s times the root of 2.
    let base = StateCounts::always_on(10, 100);
    let two = [(asleep(10, 100), base), (asleep(10, 200), base)];
    close(states(0.9).with_sleep_fitted(&two, Mean::Arithmetic, 0.5).unwrap().sleep, 1.0 / 3.0);
    close(states(0.9).with_sleep_fitted(&two, Mean::Geometric, 0.5).unwrap().sleep, 0.125_f64.sqrt());
    // The ends of the range.
    let one = [(asleep(10, 100), base)];
    assert!(states(0.5).with_sleep_fitted(&one, Mean::Arithmetic, 0.0).unwrap().sleep > 1.0 - 1e-15);
    assert!(states(0.5).with_sleep_fitted(&one, Mean::Geometric, 1.0).unwrap().sleep < 1e-15);
    // The fitted value reproduces the saving, whatever else leaks.
    for mean in [Mean::Arithmetic, Mean::Geometric] {
        let pairs: Vec<_> =
            runs().iter().map(|&run| (run, StateCounts::always_on(run.registers, run.cycles))).collect();
        let leakage = Leakage { sleep: 0.0, off: 0.05, sleep_transition: 0.2, off_transition: 0.3, routing: 0.1 };
        let energies = |leakage: Leakage| -> Vec<f64> {
            pairs.iter().map(|(run, base)| leakage.relative(run, base).unwrap().energy).collect()
        };
        let saving = 1.0 - mean.of(&energies(Leakage { sleep: 0.37, ..leakage }));
        let fitted = leakage.with_sleep_fitted(&pairs, mean, saving).unwrap();
        close(fitted.sleep, 0.37);
        close(1.0 - mean.of(&energies(fitted)), saving);
    }
}

#[test]
fn what_has_no_fit_is_refused() {
    let base = StateCounts::always_on(10, 100);
    let fit = |leakage: Leakage, runs: &[_], saving| leakage.with_sleep_fitted(runs, Mean::Geometric, saving);
    let half = StateCounts { on: 500, sleep: 500, ..base };
    let refused = fit(states(0.5), &[(half, base)], 0.6).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "no leakage in SLEEP from 0 to 1 saves 60.00 % of the energy of these runs: it is 0.00 to 50.00 %"
    );
    for saving in [-0.01, 0.51, f64::NAN, f64::INFINITY] {
        assert!(matches!(fit(states(0.5), &[(half, base)], saving), Err(LeakageError::NoFit { .. })));
    }
    // Transitions that cost more than SLEEP can save.
    assert!(matches!(
        fit(PLAIN, &[(StateCounts { to_sleep: 300, ..half }, base)], 0.1),
        Err(LeakageError::NoFit { .. })
    ));
    assert_eq!(fit(states(0.5), &[(base, base)], 0.0), Err(LeakageError::NoSleep));
    let routing = Leakage { routing: 1.0, ..PLAIN };
    assert_eq!(fit(routing, &[(half, base)], 0.0), Err(LeakageError::NoSleep));
    assert_eq!(fit(states(0.5), &[], 0.4), Err(LeakageError::NoRuns));
    assert!(fit(states(0.5), &[(half, base), (half, half), (RUN, BASELINE)], 0.4).is_ok());
    let wrong = StateCounts { on: 501, ..half };
    assert!(matches!(fit(states(0.5), &[(half, base), (wrong, base)], 0.4), Err(LeakageError::Sum { .. })));
}

#[test]
fn counts_that_contradict_each_other_are_refused() {
    let refused = |run: StateCounts| PLAIN.energy(&run).unwrap_err().to_string();
    assert_eq!(
        refused(StateCounts { off: 299, ..RUN }),
        "200 register-cycles ON, 500 in SLEEP and 299 OFF are not 10 registers times 100 cycles; registers that are not \
         allocated have a state too"
    );
    for wrong in [
        StateCounts { on: 201, ..RUN },
        StateCounts { sleep: 0, ..RUN },
        StateCounts { cycles: 101, ..RUN },
        StateCounts { registers: 11, ..RUN },
        // Sums and products beyond 64 bits.
        StateCounts { on: u64::MAX, sleep: 1001, off: 0, ..RUN },
        StateCounts { cycles: 1 << 63, registers: 2, on: 0, sleep: 0, off: 0, ..RUN },
        StateCounts::always_on(u64::MAX, u64::MAX),
    ] {
        assert!(matches!(PLAIN.energy(&wrong), Err(LeakageError::Sum { .. })), "{wrong:?}");
        assert!(matches!(PLAIN.relative(&RUN, &wrong), Err(LeakageError::Sum { .. })), "{wrong:?}");
    }
    // Registers of a warp that ends while they are ON wake more often than they change to SLEEP.
    assert!(PLAIN.energy(&StateCounts { from_sleep: 1000, ..RUN }).is_ok());
    for empty in [StateCounts::default(), StateCounts::always_on(10, 0), StateCounts::always_on(0, 10)] {
        assert!(matches!(PLAIN.energy(&empty), Err(LeakageError::Nothing { .. })));
    }
    assert_eq!(
        PLAIN.relative(&RUN, &StateCounts::always_on(11, 80)),
        Err(LeakageError::OtherFile { run: 10, baseline: 11 })
    );
    let off = StateCounts { on: 0, off: 800, ..BASELINE };
    assert_eq!(PLAIN.relative(&RUN, &off), Err(LeakageError::NoBaseline));
}

#[test]
fn parameters_out_of_range_are_refused() {
    let refused = |leakage: Leakage| leakage.energy(&RUN).unwrap_err().to_string();
    assert_eq!(refused(Leakage { sleep: 1.5, ..PLAIN }), "the parameter sleep is 1.5; it must be from 0 to 1.0");
    for wrong in [-0.1, f64::NAN, f64::INFINITY] {
        for leakage in [
            Leakage { sleep: wrong, ..PLAIN },
            Leakage { off: wrong, ..PLAIN },
            Leakage { sleep_transition: wrong, ..PLAIN },
            Leakage { off_transition: wrong, ..PLAIN },
            Leakage { routing: wrong, ..PLAIN },
        ] {
            assert!(matches!(leakage.energy(&RUN), Err(LeakageError::Parameter { .. })), "{leakage:?}");
        }
    }
    for register_leakage in [0.0, -1.0, f64::NAN] {
        let leakage = Leakage::thesis(0.5, TransitionOf::Bank, register_leakage);
        assert!(matches!(leakage.energy(&RUN), Err(LeakageError::Parameter { name: "sleep_transition", .. })));
    }
}

/// Power and cycles of the thesis's means give its energies; with routing, one share gives both of its savings.
#[test]
fn the_means_of_the_thesis_fit_each_other() {
    let saving = |power: f64, cycles: u64, routing: f64| {
        // All registers in SLEEP leak the remaining power.
        let leakage = Leakage { routing, ..states(1.0 - power) };
        let relative = leakage.relative(&asleep(64, cycles), &StateCounts::always_on(64, 10_000)).unwrap();
        100.0 * (1.0 - relative.energy)
    };
    let within = |value: f64, printed: f64, points: f64| assert!((value - printed).abs() < points, "{value} {printed}");
    // 4.3.1, 4.3.2, 4.3.3: GREENER, Sleep-Reg.
    within(saving(0.4724, 10_053, 0.0), 46.96, 0.005);
    within(saving(0.4186, 10_148, 0.0), 41.0, 0.05);
    // 4.3.7.
    within(saving(0.4724, 10_053, 0.552), 20.76, 0.03);
    within(saving(0.4186, 10_148, 0.556), 17.4, 0.05);
    within(saving(0.4724, 10_053, ROUTING), 20.76, 0.12);
    within(saving(0.4186, 10_148, ROUTING), 17.4, 0.08);
}
