//! Work on all processors, in order.

/// Gives `work` parts of the items, on as many threads as there are processors, and the results in order. Fewer than `many` items are not worth
/// a thread: they are one part.
pub fn parts<T: Sync, R: Send>(items: &[T], many: usize, work: impl Fn(&[T]) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(items.len().max(1));
    if items.len() < many || threads < 2 {
        return vec![work(items)];
    }
    let work = &work;
    std::thread::scope(|scope| {
        let parts: Vec<_> = items.chunks(items.len().div_ceil(threads)).map(|part| scope.spawn(move || work(part))).collect();
        parts.into_iter().map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_are_in_order() {
        let items: Vec<u32> = (0..1001).collect();
        let all: Vec<u32> = super::parts(&items, 2, |part| part.to_vec()).concat();
        assert_eq!(all, items);
        assert_eq!(super::parts(&items, 5000, <[u32]>::len), [1001]);
    }
}
