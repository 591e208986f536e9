use super::*;

/// The members of a pool, of which the first leads.
fn members(threads: usize) -> Vec<Member> {
    let parkers: Vec<Parker> = (0..threads).map(|_| Parker::new()).collect();
    let pool = Arc::new(Pool::new(&parkers, 0, &Arc::default()));
    (0..threads).map(|me| Member::new(&pool, me, false)).collect()
}

fn roles(members: &[Member]) -> Vec<Role> {
    members.iter().map(Member::role).collect()
}

fn run(member: &Member, took: Duration) {
    member.begin(0, Duration::ZERO, false);
    member.ended(took);
}

#[test]
fn the_lead_changes_before_a_run_that_blocks_while_a_thread_stands_by() {
    let members = members(3);
    assert_eq!(roles(&members), [Role::Lead, Role::StandBy, Role::Idle]);
    members[0].begin(0, Duration::ZERO, true);
    assert_eq!(roles(&members), [Role::Idle, Role::Lead, Role::StandBy]);
    members[1].begin(0, Duration::ZERO, true);
    assert_eq!(roles(&members), [Role::Idle, Role::Idle, Role::Lead]);
    members[2].begin(0, Duration::ZERO, true);
    members[2].ended(Duration::ZERO);
    assert!(members[2].leads(), "no thread stands by");
    members[0].ended(Duration::ZERO);
    members[0].come_back(0);
    assert_eq!(roles(&members), [Role::StandBy, Role::Idle, Role::Lead]);
}

#[test]
fn the_lead_changes_where_runs_are_slow_on_average_and_not_for_one_that_is() {
    let members = members(2);
    run(&members[0], Duration::from_secs(1));
    (0..1_000).for_each(|_| run(&members[0], Duration::from_nanos(200)));
    assert!(members[0].leads());
    let slow = (0..10).take_while(|_| members[0].leads());
    let slow = slow.inspect(|_| run(&members[0], Duration::from_millis(1))).count();
    assert!((3..8).contains(&slow), "after {slow} slow runs");
    assert_eq!(roles(&members)[1], Role::Lead);
}

#[test]
fn a_run_that_holds_up_others_is_counted_if_no_thread_stands_by() {
    let members = members(2);
    let delayed_others =
        || members[0].others().map(|pool| pool.delayed_others.load(Ordering::Relaxed));
    run(&members[0], PATIENCE * 2);
    assert_eq!(delayed_others(), Some(0));
    members[0].begin(0, Duration::ZERO, true);
    members[1].begin(0, Duration::ZERO, false);
    members[1].ended(PATIENCE * 2);
    assert_eq!(delayed_others(), Some(1));
    members[1].begin(1_000_000, Duration::ZERO, false);
    members[0].ended(Duration::ZERO);
    members[0].come_back(1_100_000);
    assert_eq!(delayed_others(), Some(1), "it is not late yet");
}

/// A thread that was the standby until now may still be about to store the time of its check. The
/// next standby, which may sleep already, would not be woken in time.
#[test]
fn only_the_standby_stores_when_it_checks_next() {
    let members = members(3);
    members[0].begin(0, Duration::ZERO, true);
    assert_eq!(roles(&members), [Role::Idle, Role::Lead, Role::StandBy]);
    let pool = members[0].others().unwrap();
    assert!(pool.set_next_check(NEVER, 2));
    assert!(!pool.set_next_check(5, 1));
    assert_eq!(pool.next_check.load(Ordering::Relaxed), NEVER);
}
