//! Formats values for a sentence.

/// Formats a value for a sentence.
pub(crate) fn shown<T: Shown + ?Sized>(value: &T) -> String {
    value.shown(false)
}

/// A value that a sentence can contain: a number, a word, or several of them separated by commas.
pub trait Shown {
    /// Formats it. `inner` is `true` inside another list; a list is then set in parentheses.
    fn shown(&self, inner: bool) -> String;
}

macro_rules! as_displayed {
    ($($one:ty),*) => {$(
        impl Shown for $one {
            fn shown(&self, _: bool) -> String {
                self.to_string()
            }
        }
    )*};
}
as_displayed!(u32, u64, usize, i32, i64, &str, String);

impl Shown for bool {
    fn shown(&self, _: bool) -> String {
        if *self { "yes" } else { "no" }.to_owned()
    }
}

fn several(members: &[String], inner: bool) -> String {
    match (members, inner) {
        ([], _) => "none".to_owned(),
        ([one], _) => one.clone(),
        (_, true) => format!("({})", members.join(", ")),
        (_, false) => members.join(", "),
    }
}

impl<T: Shown> Shown for [T] {
    fn shown(&self, inner: bool) -> String {
        several(&self.iter().map(|member| member.shown(true)).collect::<Vec<_>>(), inner)
    }
}

impl<T: Shown> Shown for Vec<T> {
    fn shown(&self, inner: bool) -> String {
        self.as_slice().shown(inner)
    }
}

impl<T: Shown, const N: usize> Shown for [T; N] {
    fn shown(&self, inner: bool) -> String {
        self.as_slice().shown(inner)
    }
}

impl<A: Shown, B: Shown> Shown for (A, B) {
    fn shown(&self, inner: bool) -> String {
        several(&[self.0.shown(true), self.1.shown(true)], inner)
    }
}

impl<A: Shown, B: Shown, C: Shown> Shown for (A, B, C) {
    fn shown(&self, inner: bool) -> String {
        several(&[self.0.shown(true), self.1.shown(true), self.2.shown(true)], inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_as_they_are_read() {
        assert_eq!(shown(&vec![6_u64, 18, 30]), "6, 18, 30");
        assert_eq!(shown(&[(3_600_u64, 11_usize), (60, 15)]), "(3600, 11), (60, 15)");
        assert_eq!(shown(&(vec![true, false], vec![3_u64])), "(yes, no), 3");
        assert_eq!(shown(&Vec::<u64>::new()), "none");
    }
}
