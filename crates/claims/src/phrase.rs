//! Formats values for a sentence.

/// Formats a value for a sentence.
pub(crate) fn phrase<T: Phrase + ?Sized>(value: &T) -> String {
    value.phrase(false)
}

/// A value that a sentence can contain: a number, a word, or several of them separated by commas.
pub trait Phrase {
    /// Formats it. `inner` is `true` inside another list; a list is then set in parentheses.
    fn phrase(&self, inner: bool) -> String;
}

macro_rules! as_displayed {
    ($($one:ty),*) => {$(
        impl Phrase for $one {
            fn phrase(&self, _: bool) -> String {
                self.to_string()
            }
        }
    )*};
}
as_displayed!(u32, u64, usize, i32, i64, &str, String);

impl Phrase for bool {
    fn phrase(&self, _: bool) -> String {
        if *self { "yes" } else { "no" }.to_owned()
    }
}

fn join_members(members: &[String], inner: bool) -> String {
    match (members, inner) {
        ([], _) => "none".to_owned(),
        ([one], _) => one.clone(),
        (_, true) => format!("({})", members.join(", ")),
        (_, false) => members.join(", "),
    }
}

impl<T: Phrase> Phrase for [T] {
    fn phrase(&self, inner: bool) -> String {
        join_members(&self.iter().map(|member| member.phrase(true)).collect::<Vec<_>>(), inner)
    }
}

impl<T: Phrase> Phrase for Vec<T> {
    fn phrase(&self, inner: bool) -> String {
        self.as_slice().phrase(inner)
    }
}

impl<T: Phrase, const N: usize> Phrase for [T; N] {
    fn phrase(&self, inner: bool) -> String {
        self.as_slice().phrase(inner)
    }
}

impl<A: Phrase, B: Phrase> Phrase for (A, B) {
    fn phrase(&self, inner: bool) -> String {
        join_members(&[self.0.phrase(true), self.1.phrase(true)], inner)
    }
}

impl<A: Phrase, B: Phrase, C: Phrase> Phrase for (A, B, C) {
    fn phrase(&self, inner: bool) -> String {
        join_members(&[self.0.phrase(true), self.1.phrase(true), self.2.phrase(true)], inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_formatted_for_a_sentence() {
        assert_eq!(phrase(&vec![6_u64, 18, 30]), "6, 18, 30");
        assert_eq!(phrase(&[(3_600_u64, 11_usize), (60, 15)]), "(3600, 11), (60, 15)");
        assert_eq!(phrase(&(vec![true, false], vec![3_u64])), "(yes, no), 3");
        assert_eq!(phrase(&Vec::<u64>::new()), "none");
    }
}
